// The document as blocks of text nodes: the text of the page is exactly the text of the document.

import { offsets } from "./offsets.js";

/** Number of a heading's block → 1 for the document's title, 2 and more for those inside it, whatever their depth is. */
function headingLevels(blocks) {
  const headings = blocks.flatMap(([, , kind, level], number) => (kind === "heading" ? [[number, level]] : []));
  const least = Math.min(...headings.slice(1).map(([, level]) => level));
  return new Map(headings.map(([number, level], k) => [number, k ? 2 + level - least : 1]));
}

const KEPT = ":scope > :is(.stripe, .caret, .entry)";

export class TextView {
  constructor(root, documentView) {
    this.root = root;
    this.text = documentView.text;
    this.map = offsets(this.text);
    this.blocks = [];
    const pieces = document.createDocumentFragment();
    const levels = headingLevels(documentView.blocks);
    const { groups, inline } = documentView;
    const around = new FocusevalNest(pieces, groups);
    let inside = 0;
    documentView.blocks.forEach(([start, end, named], number) => {
      const [kind, sign] = named.split(" ");
      const level = levels.get(number) ?? 0;
      const tag = level ? `h${Math.min(6, level + 1)}` : "div"; // the topic's title is the page's h1
      const block = { start: this.map.toUnit(start), end: this.map.toUnit(end), kind, node: document.createElement(tag) };
      block.node.className = `block ${kind}`;
      block.node.dataset.block = number;
      block.node.dataset.level = Math.min(level, 6);
      block.node.dir = "auto";
      if (sign) block.node.dataset.sign = sign;
      if (kind === "formula") block.node.tabIndex = 0; // a wide one scrolls
      block.inline = [];
      for (; inside < inline.length && inline[inside][0] < end; inside += 1) {
        const [from, to, name, depth] = inline[inside];
        block.inline.push([this.map.toUnit(from), this.map.toUnit(to), name, depth]);
      }
      const outer = Math.min(...block.inline.map((one) => one[3]));
      for (const one of block.inline) one[3] -= outer;
      this.fill(block, [[block.start, block.end, ""]]);
      this.blocks.push(block);
      around.holder(number).append(block.node);
    });
    around.holder(this.blocks.length);
    pieces.querySelectorAll(".image").forEach((place, number) => {
      const asked = new URLSearchParams(location.search);
      const named = ["topic", "document", "as"].filter((key) => asked.has(key)).map((key) => [key, asked.get(key)]);
      const image = Object.assign(new Image(), { alt: place.dataset.name, loading: "lazy" });
      image.onerror = () => image.remove(); // its name stays
      image.src = `/api/image?${new URLSearchParams([...named, ["number", number]])}`;
      place.append(image);
    });
    root.replaceChildren(pieces);
  }

  /** Write the text of a block in pieces [start, end, classes], inside of the elements that the document has there. */
  fill(block, pieces) {
    const kept = [...block.node.querySelectorAll(KEPT)];
    block.node.replaceChildren(...kept);
    const nest = new FocusevalNest(block.node, block.inline);
    for (const [start, end, classes] of pieces) {
      for (let at = start; at < end;) {
        const holder = nest.holder(at);
        const to = Math.min(end, nest.edge);
        const text = document.createTextNode(this.text.slice(at, to));
        if (classes) holder.append(Object.assign(document.createElement("mark"), { className: classes }));
        (classes ? holder.lastChild : holder).append(text);
        at = to;
      }
    }
    nest.holder(block.end);
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
    const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    const holder = element?.closest("[data-block]");
    if (!holder && element && this.root.contains(element)) { // beside blocks: the page itself, a table, a row
      const inside = [...element.childNodes].slice(offset).flatMap((child) => (child.matches("[data-block]") ? [child] : [...child.querySelectorAll("[data-block]")]));
      const before = [...element.querySelectorAll("[data-block]")].at(-1);
      if (inside.length) return this.blocks[Number(inside[0].dataset.block)].start;
      return before ? this.blocks[Number(before.dataset.block)].end : null;
    }
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
    const scale = this.scale ?? 1; // of pages, on which a pixel is a point
    node.style.top = `${(box.top - frame.top) / scale - block.node.clientTop}px`;
    node.style.left = `${(box.left - frame.left) / scale - block.node.clientLeft}px`;
    node.style.height = `${box.height / scale}px`;
  }

  toUnits(spans) {
    return spans.map(([start, end]) => [this.map.toUnit(start), this.map.toUnit(end)]);
  }

  /** Say in every block, for those who hear it, what of it is highlighted; painted highlights are seen alone. */
  describe(spans) {
    const told = new Map();
    for (const [start, end] of spans) {
      for (let number = this.blockAt(start); number < this.blocks.length && this.blocks[number].start < end; number += 1) {
        const block = this.blocks[number];
        const [from, to] = [Math.max(start, block.start), Math.min(end, block.end)];
        const whole = from === block.start && to === block.end;
        if (from < to) told.set(number, [...(told.get(number) ?? []), whole ? "all" : this.text.slice(from, to).trim()]);
      }
    }
    for (const number of this.described ?? []) if (!told.has(number)) this.blocks[number].node.removeAttribute("aria-description");
    for (const [number, texts] of told) {
      const said = texts[0] === "all" ? "highlighted" : `highlighted: ${texts.map((text) => (text.length > 80 ? `${text.slice(0, 40)} … ${text.slice(-30)}` : text)).join("; ")}`;
      if (this.blocks[number].node.getAttribute("aria-description") !== said) this.blocks[number].node.setAttribute("aria-description", said);
    }
    this.described = [...told.keys()];
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
