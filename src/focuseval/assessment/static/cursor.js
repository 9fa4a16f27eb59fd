// Where the assessor is: an anchor and a caret in the text, kept in step with the browser's selection and drawn.

import { backward, forward, nextBlock, trimmed } from "./moves.js";

export class Cursor {
  constructor(view, elements, { scroller, caretNode, onmove }) {
    Object.assign(this, { view, elements, scroller, caretNode, onmove, anchor: 0, caret: 0, grown: [] });
    document.addEventListener("selectionchange", () => this.#follow());
    new ResizeObserver(() => this.draw()).observe(scroller);
  }

  get collapsed() {
    return this.anchor === this.caret;
  }

  get span() {
    return [Math.min(this.anchor, this.caret), Math.max(this.anchor, this.caret)];
  }

  get block() {
    return this.view.blockAt(this.caret > this.anchor ? this.caret - 1 : this.caret);
  }

  /** Put the caret somewhere; with `extend` the anchor stays. */
  go(unit, { extend = false, show = true } = {}) {
    this.caret = unit;
    if (!extend) this.anchor = unit;
    this.grown = [];
    this.#apply(show);
  }

  select(start, end, { keepGrown = false, show = true } = {}) {
    [this.anchor, this.caret] = [start, end];
    if (!keepGrown) this.grown = [];
    this.#apply(show);
  }

  /** Wait at a place, as before the first move. */
  rest(unit) {
    Object.assign(this, { anchor: unit, caret: unit, grown: [], started: false });
    this.draw();
  }

  toBlock(step) {
    const number = this.started ? nextBlock(this.view, this.block, step) : nextBlock(this.view, -1, 1);
    if (number !== null) this.go(this.view.blocks[number].start);
  }

  by(granularity, direction, extend) {
    const move = direction > 0 ? forward : backward;
    if (!extend && !this.collapsed) this.go(this.span[direction > 0 ? 1 : 0]);
    else this.go(move(this.view, this.caret, granularity), { extend });
  }

  /** Grow the selection to the element around it, one step more each time. */
  grow() {
    if (this.collapsed && this.view.blocks[this.block].kind === "gap") this.toBlock(1); // nobody means the white space
    const around = this.#around();
    if (!around) return;
    this.grown.push([this.anchor, this.caret]);
    this.select(...around, { keepGrown: true });
  }

  shrink() {
    const before = this.grown.pop();
    if (before) this.select(...before, { keepGrown: true });
  }

  /** From a caret, its paragraph; from a selection, the smallest paragraph or element that contains more. */
  #around() {
    const { map, blocks } = this.view;
    const [start, end] = this.span;
    const block = blocks[this.block];
    const [from, to] = (this.collapsed ? [block.start, block.end] : [start, end]).map(map.toCodePoint);
    const rows = this.elements.chain(from, to);
    const spans = this.view.toUnits(rows.map((row) => [this.elements.start[row], this.elements.end[row]]));
    if (this.collapsed) {
      const isElement = spans.some(([a, b]) => a === block.start && b === block.end);
      return isElement ? [block.start, block.end] : trimmed(this.view, block.start, block.end);
    }
    const larger = [[block.start, block.end], ...spans].filter(([a, b]) => a <= start && end <= b && b - a > end - start);
    return larger.sort((x, y) => x[1] - x[0] - (y[1] - y[0]))[0];
  }

  /** Draw the caret with the next frame, however often it moves before. */
  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      this.caretNode.hidden = !this.started || !this.collapsed;
      if (!this.caretNode.hidden) this.view.pin(this.caretNode, this.caret);
    });
  }

  #apply(show) {
    this.started = true;
    this.view.select(this.anchor, this.caret);
    if (show) this.#reveal();
    this.draw();
    this.onmove();
  }

  #reveal() {
    const node = this.view.blocks[this.block].node;
    node.scrollIntoView({ block: "nearest" });
    const end = Math.min(this.caret + 1, this.view.text.length);
    const box = this.view.range(Math.max(0, end - 1), end).getBoundingClientRect();
    const frame = this.scroller.getBoundingClientRect();
    const margin = Math.min(80, frame.height / 5);
    if (box.top < frame.top + margin) this.scroller.scrollTop -= frame.top + margin - box.top;
    else if (box.bottom > frame.bottom - margin) this.scroller.scrollTop += box.bottom - frame.bottom + margin;
  }

  /** The browser's selection moved, by mouse or touch. */
  #follow() {
    const found = this.view.selection();
    if (!found || (found.anchor === this.anchor && found.caret === this.caret)) return;
    const same = this.view.place(this.caret, this.caret > this.anchor);
    const selection = document.getSelection();
    if (same[0] === selection.focusNode && same[1] === selection.focusOffset && found.anchor === this.anchor) return;
    Object.assign(this, { ...found, grown: [], started: true });
    this.draw();
    this.onmove();
  }
}
