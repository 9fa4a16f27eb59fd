// Where the assessor is: an anchor and a caret in the text, kept in step with the browser's selection and drawn.

import { backward, forward, nextBlock } from "./moves.js";

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

  select(start, end, { keepGrown = false } = {}) {
    [this.anchor, this.caret] = [start, end];
    if (!keepGrown) this.grown = [];
    this.#apply(true);
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
    const [start, end] = this.#elementAround();
    if (start === undefined) return;
    this.grown.push([this.anchor, this.caret]);
    this.select(start, end, { keepGrown: true });
  }

  shrink() {
    const before = this.grown.pop();
    if (before) this.select(...before, { keepGrown: true });
  }

  /** The smallest element that contains more than the selection; a block where there are no elements. */
  #elementAround() {
    const { map, blocks } = this.view;
    const [start, end] = this.span;
    const [from, to] = [map.toCodePoint(start), map.toCodePoint(end)];
    const rows = this.elements.chain(from, Math.max(to, from + 1));
    const row = rows.find((k) => this.collapsed || this.elements.start[k] < from || this.elements.end[k] > to);
    if (row !== undefined) return [map.toUnit(this.elements.start[row]), map.toUnit(this.elements.end[row])];
    const block = blocks[this.block];
    if (!this.elements.length && (block.start < start || block.end > end)) return [block.start, block.end];
    return [];
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
