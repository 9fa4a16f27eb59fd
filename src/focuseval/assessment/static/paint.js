// Layers of painted spans over a text view: the CSS Custom Highlight API, or <mark> where it is missing.

const SUPPORTED = typeof Highlight === "function" && typeof CSS !== "undefined" && "highlights" in CSS;

export function createPainter(view, { marks = !SUPPORTED } = {}) {
  return marks ? new MarkPainter(view) : new HighlightPainter(view);
}

/** Spans that begin before `end` and end after `start`; both spans and ranges are sorted and disjoint. */
function within(spans, start, end) {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle][1] <= start) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (let k = low; k < spans.length && spans[k][0] < end; k += 1) found.push(spans[k]);
  return found;
}

/**
 * One Highlight per layer, with ranges for the blocks near the window alone: a browser looks at every range again
 * whenever anything changes, so that thousands of them would make scrolling stutter.
 */
class HighlightPainter {
  constructor(view) {
    this.view = view;
    this.layers = new Map();
    this.seen = new Set();
    const watch = (entries) => entries.forEach(({ target, isIntersecting }) => this.#turn(Number(target.dataset.block), isIntersecting));
    const observer = new IntersectionObserver(watch, { root: view.root.parentElement, rootMargin: "100% 0px" });
    view.blocks.forEach((block) => observer.observe(block.node));
  }

  set(name, spans, priority = 0) {
    if (!this.layers.has(name)) {
      const highlight = new Highlight();
      highlight.priority = priority;
      CSS.highlights.set(name, highlight);
      this.layers.set(name, { highlight, painted: new Map() });
    }
    const layer = this.layers.get(name);
    layer.spans = spans;
    this.seen.forEach((number) => this.#paint(layer, number));
  }

  /** Paint a block again whose text nodes are others now. */
  refresh(number) {
    for (const layer of this.layers.values()) {
      layer.painted.get(number)?.ranges.forEach((range) => layer.highlight.delete(range));
      layer.painted.delete(number);
      this.#paint(layer, number);
    }
  }

  #turn(number, isSeen) {
    if (isSeen) this.seen.add(number);
    else this.seen.delete(number);
    this.layers.forEach((layer) => this.#paint(layer, number));
  }

  /** Bring one block's ranges to what its layer says; most of the time that is what they are. */
  #paint(layer, number) {
    const block = this.view.blocks[number];
    const clip = ([start, end]) => [Math.max(start, block.start), Math.min(end, block.end)];
    const wanted = this.seen.has(number) ? within(layer.spans, block.start, block.end).map(clip) : [];
    const before = layer.painted.get(number);
    const key = wanted.join(";");
    if ((before?.key ?? "") === key) return;
    before?.ranges.forEach((range) => layer.highlight.delete(range));
    const ranges = wanted.map(([start, end]) => this.view.staticRange(start, end));
    ranges.forEach((range) => layer.highlight.add(range));
    if (ranges.length) layer.painted.set(number, { key, ranges });
    else layer.painted.delete(number);
  }
}

/** <mark> elements, rebuilt in the blocks that a change touches. */
class MarkPainter {
  constructor(view) {
    this.view = view;
    this.layers = new Map();
  }

  set(name, spans) {
    const before = this.layers.get(name) ?? [];
    this.layers.set(name, spans);
    const known = new Set(before.map(String));
    const wanted = new Set(spans.map(String));
    const changed = [...before.filter((s) => !wanted.has(String(s))), ...spans.filter((s) => !known.has(String(s)))];
    const blocks = new Set();
    for (const [start, end] of changed) {
      const last = this.view.blockAt(Math.max(start, end - 1));
      for (let number = this.view.blockAt(start); number <= last; number += 1) blocks.add(number);
    }
    blocks.forEach((number) => this.#repaint(this.view.blocks[number]));
  }

  #repaint(block) {
    const cuts = new Set([block.start, block.end]);
    const inside = [];
    for (const [name, spans] of this.layers) {
      for (const [start, end] of spans) {
        if (start < block.end && end > block.start) {
          inside.push([name, start, end]);
          cuts.add(Math.max(start, block.start)).add(Math.min(end, block.end));
        }
      }
    }
    const edges = [...cuts].sort((a, b) => a - b);
    const classes = (start, end) => inside.filter(([, a, b]) => a <= start && end <= b).map(([name]) => name).join(" ");
    this.view.fill(block, edges.slice(1).map((end, k) => [edges[k], end, classes(edges[k], end)]));
  }
}
