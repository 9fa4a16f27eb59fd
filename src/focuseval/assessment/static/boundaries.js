// Element boundaries on demand: a name beside every block, a line under what stands inside one.

export function showBoundaries(desk, shown) {
  const { view, elements } = desk;
  view.root.classList.toggle("with-elements", shown);
  for (const block of view.blocks) {
    const [row] = elements.chain(view.map.toCodePoint(block.start), view.map.toCodePoint(block.end));
    if (row !== undefined) block.node.dataset.element = elements.tag(row);
  }
  const all = view.toUnits(elements.path.map((_, row) => [elements.start[row], elements.end[row]]));
  const isInside = ([start, end]) => {
    const block = view.blocks[view.blockAt(start)];
    return start < end && end <= block.end && end - start < block.end - block.start;
  };
  desk.painter.set("inner", shown ? all.filter(isInside) : [], -1);
}
