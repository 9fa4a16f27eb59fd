// Search within the document, on the plain text and on pages alike: words may stand on two lines.

export class Find {
  constructor(view, painter, form, go) {
    Object.assign(this, { view, painter, form, go, spans: [], at: -1 });
    [this.input, this.said] = [form.querySelector("input"), form.querySelector("output")];
    this.input.addEventListener("input", () => this.#search());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.step(1);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.shiftKey) {
        event.preventDefault();
        this.step(-1);
      } else if (event.key === "Escape") this.close();
    });
  }

  open() {
    this.form.hidden = false;
    this.input.select();
    this.input.focus();
  }

  close() {
    this.form.hidden = true;
    this.painter.set("found", [], 2);
    this.view.root.focus({ preventScroll: true });
  }

  step(by) {
    if (!this.spans.length) return;
    this.at = (this.at + by + this.spans.length) % this.spans.length;
    this.said.textContent = `${this.at + 1} of ${this.spans.length}`;
    this.go(...this.spans[this.at]);
    this.input.focus({ preventScroll: true });
  }

  #search() {
    const words = this.input.value.trim().split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const found = words.length ? [...this.view.text.matchAll(new RegExp(words.join("\\s+"), "giu"))] : [];
    this.spans = found.map((match) => [match.index, match.index + match[0].length]);
    this.at = -1;
    this.said.textContent = words.length ? `${this.spans.length} found` : "";
    this.painter.set("found", this.spans, 2);
  }
}
