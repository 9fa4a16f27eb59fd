// The document as blocks of text nodes: the text of the page is exactly the text of the document.

import { offsets } from "./offsets.js";

export class TextView {
  constructor(root, documentView) {
    this.root = root;
    this.text = documentView.text;
    this.map = offsets(this.text);
    this.blocks = [];
    const pieces = document.createDocumentFragment();
    documentView.blocks.forEach(([start, end, kind, level], number) => {
      const block = { start: this.map.toUnit(start), end: this.map.toUnit(end), kind, node: document.createElement("div") };
      block.node.className = `block ${kind}`;
      block.node.dataset.block = number;
      block.node.dataset.level = Math.min(level, 6);
      block.node.dir = "auto";
      block.node.append(document.createTextNode(this.text.slice(block.start, block.end)));
      this.blocks.push(block);
      pieces.append(block.node);
    });
    root.replaceChildren(pieces);
  }

  /** Number of the block that holds a unit; the last one for the end of the text. */
  blockAt(unit) {
    let low = 0;
    let high = this.blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.blocks[middle].start <= unit) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The node and offset of a unit; an end belongs to the block that it ends. */
  place(unit, isEnd = false) {
    let number = this.blockAt(unit);
    if (isEnd && number > 0 && this.blocks[number].start === unit) number -= 1;
    const block = this.blocks[number];
    let rest = unit - block.start;
    const walker = document.createTreeWalker(block.node, NodeFilter.SHOW_TEXT);
    let node = walker.nextNode();
    while (node && rest > node.length) {
      rest -= node.length;
      node = walker.nextNode();
    }
    return node ? [node, rest] : [block.node, 0];
  }

  /** The unit at a place of the page, or null when it lies outside the text. */
  unitAt(node, offset) {
    if (node === this.root) return offset < this.blocks.length ? this.blocks[offset].start : this.text.length;
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    const holder = element?.closest("[data-block]");
    if (!holder || !this.root.contains(holder)) return null;
    const range = document.createRange();
    range.setStart(holder, 0);
    range.setEnd(node, offset);
    return this.blocks[Number(holder.dataset.block)].start + range.toString().length;
  }

  range(start, end) {
    const range = document.createRange();
    range.setStart(...this.place(start));
    range.setEnd(...this.place(end, end > start));
    return range;
  }

  staticRange(start, end) {
    const [startContainer, startOffset] = this.place(start);
    const [endContainer, endOffset] = this.place(end, true);
    return new StaticRange({ startContainer, startOffset, endContainer, endOffset });
  }

  /** Put a node without text beside a unit; it lives in the unit's block, so that it moves with it. */
  pin(node, unit) {
    const block = this.blocks[this.blockAt(Math.min(unit, this.text.length - 1))];
    const box = this.range(unit, Math.min(unit + 1, this.text.length)).getClientRects()[0];
    if (!box) return;
    const frame = block.node.getBoundingClientRect();
    if (node.parentNode !== block.node) block.node.append(node);
    node.style.top = `${box.top - frame.top - block.node.clientTop}px`;
    node.style.left = `${box.left - frame.left - block.node.clientLeft}px`;
    node.style.height = `${box.height}px`;
  }

  toUnits(spans) {
    return spans.map(([start, end]) => [this.map.toUnit(start), this.map.toUnit(end)]);
  }

  /** What the page's selection covers, in units, anchor and focus apart; null when it is elsewhere. */
  selection() {
    const selection = document.getSelection();
    if (!selection?.rangeCount || !selection.anchorNode) return null;
    const anchor = this.unitAt(selection.anchorNode, selection.anchorOffset);
    const caret = this.unitAt(selection.focusNode, selection.focusOffset);
    return anchor === null || caret === null ? null : { anchor, caret };
  }

  select(anchor, caret) {
    const from = this.place(anchor, anchor > caret);
    const to = this.place(caret, caret > anchor);
    document.getSelection().setBaseAndExtent(...from, ...to);
  }
}
