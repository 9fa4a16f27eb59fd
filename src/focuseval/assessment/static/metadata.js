// Text before metadata: journal, identifiers, dates, licence stay folded away until somebody asks for them.

export class Metadata {
  constructor(view, onchange) {
    Object.assign(this, { view, onchange });
    this.blocks = view.blocks.filter((block) => block.kind === "meta");
    this.folded = this.blocks.length > 0 && view.blocks.some((block) => block.kind !== "meta" && block.kind !== "gap");
    this.button = document.getElementById("metadata");
    this.button.hidden = !this.folded;
    this.button.addEventListener("click", () => this.toggle());
    this.#show();
  }

  toggle() {
    if (this.button.hidden) return;
    this.folded = !this.folded;
    this.#show();
    this.onchange();
  }

  /** What is highlighted is always to be seen. */
  reveal(spans) {
    if (!this.folded) return;
    const touched = this.blocks.some((block) => spans.some(([start, end]) => start < block.end && end > block.start));
    if (touched) this.toggle();
  }

  #show() {
    for (const block of this.blocks) {
      block.folded = this.folded;
      block.node.hidden = this.folded;
    }
    this.button.setAttribute("aria-expanded", String(!this.folded));
    this.button.textContent = this.folded ? "Show the metadata (i)" : "Hide the metadata (i)";
  }
}
