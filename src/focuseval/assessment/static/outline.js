// The headings of a long article as a list, and the way from one to the next.

const MANY = 3; // fewer headings need no outline

export class Outline {
  constructor(view, onpick) {
    this.view = view;
    this.headings = view.blocks.filter((block) => block.kind === "heading");
    const node = document.getElementById("outline");
    node.hidden = this.headings.length < MANY;
    document.getElementById("headings").replaceChildren(...(node.hidden ? [] : this.headings.map((block) => this.#item(block, onpick))));
  }

  #item(block, onpick) {
    const item = document.createElement("li");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: block.node.textContent.trim() });
    item.dataset.level = block.node.dataset.level;
    button.addEventListener("click", () => onpick(block.start));
    item.append(button);
    return item;
  }

  /** The start of the next heading after a unit (or the one before it), null at the ends. */
  next(unit, step) {
    const starts = this.headings.map((block) => block.start);
    return (step > 0 ? starts.find((start) => start > unit) : starts.findLast((start) => start < unit)) ?? null;
  }
}
