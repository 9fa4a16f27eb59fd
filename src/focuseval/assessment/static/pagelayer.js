// A PDF as it looks: pictures of its pages, and over them the blocks of the text view, word by word at their places.
// The text stays the text of the document, so that whatever works on the plain text works here.

import { get } from "./server.js";

const LARGEST = 1.5; // pixels a point, of a window that is wide enough
const FROM_THE_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/; // Hebrew, Arabic and their kin
const measure = document.createElement("canvas").getContext("2d");

const make = (tag, className, style = {}) => {
  const node = Object.assign(document.createElement(tag), { className });
  Object.assign(node.style, style);
  return node;
};

export class PageLayer {
  constructor(view, pages, painter, { where, scroller, onlayout }) {
    Object.assign(this, { view, pages, painter, where, scroller, onlayout, shown: false });
    this.frames = pages.map(([start, end, width, height], number) => {
      const node = make("section", "pdf-page");
      node.dataset.page = number + 1;
      node.setAttribute("aria-label", `Page ${number + 1}`);
      node.style.setProperty("--width", width);
      node.style.setProperty("--height", height);
      const layer = make("div", "pdf-layer");
      node.append(layer);
      return { node, layer, number: number + 1, blocks: [], start: view.map.toUnit(start), end: view.map.toUnit(end), size: [width, height] };
    });
    let page = 0;
    view.blocks.forEach((block, number) => {
      while (page < this.frames.length - 1 && block.start >= this.frames[page].end) page += 1;
      this.frames[page].blocks.push(number);
    });
    this.near = new IntersectionObserver((entries) => entries.forEach((entry) => this.#turn(entry)), { root: scroller, rootMargin: "100% 0px" });
    new ResizeObserver(() => this.shown && this.#fit()).observe(scroller);
  }

  /** Show the pages, or the plain text again. */
  show(on) {
    this.shown = on;
    const { root, blocks } = this.view;
    root.classList.toggle("paged", on);
    this.near.disconnect();
    if (on) {
      this.#fit();
      for (const frame of this.frames) frame.layer.replaceChildren(...frame.blocks.map((number) => blocks[number].node));
      root.replaceChildren(...this.frames.map((frame) => frame.node));
      this.frames.forEach((frame) => this.near.observe(frame.node));
    } else {
      for (const frame of this.frames) frame.words = null;
      blocks.forEach((block, number) => {
        block.node.classList.remove("laid");
        block.node.removeAttribute("style");
        this.#fill(number, [document.createTextNode(this.view.text.slice(block.start, block.end))]);
      });
      root.replaceChildren(...blocks.map((block) => block.node));
      this.view.scale = 1;
    }
    this.onlayout();
  }

  #fit() {
    const widest = Math.max(...this.frames.map(({ size }) => size[0]));
    this.view.scale = Math.max(0.2, Math.min(LARGEST, (this.scroller.clientWidth - 40) / widest));
    this.view.root.style.setProperty("--scale", this.view.scale);
    this.onlayout();
  }

  /** A page comes near, or goes: its picture is there as long as it is near, its words stay. */
  #turn({ target, isIntersecting }) {
    const frame = this.frames[Number(target.dataset.page) - 1];
    if (!isIntersecting) {
      frame.picture?.remove();
      frame.picture = null;
      return;
    }
    if (!frame.picture) {
      const scale = Math.min(4, Math.ceil(this.view.scale * devicePixelRatio * 2) / 2);
      frame.picture = make("img", "pdf-picture");
      frame.picture.alt = "";
      frame.picture.src = `/api/picture?${new URLSearchParams({ ...this.where, page: frame.number, scale })}`;
      frame.node.prepend(frame.picture);
    }
    frame.words ??= get("/api/words", { ...this.where, page: frame.number }).then(({ words }) => this.shown && this.#place(frame, words));
  }

  /** Put the words of a page to their places; what stands between them (line ends) is text without extent. */
  #place(frame, words) {
    const { map, text } = this.view;
    const placed = words.map(([start, end, ...rest]) => [map.toUnit(start), map.toUnit(end), ...rest]);
    let next = 0;
    for (const number of frame.blocks) {
      const block = this.view.blocks[number];
      const inside = [];
      for (; next < placed.length && placed[next][0] < block.end; next += 1) inside.push(placed[next]);
      if (!inside.length) continue;
      const left = Math.min(...inside.map((word) => word[2]));
      const top = Math.min(...inside.map((word) => word[3]));
      const nodes = [];
      let at = block.start;
      const between = (end) => {
        if (end > at) nodes.push(Object.assign(make("span", "pdf-between"), { textContent: text.slice(at, end) }));
      };
      for (const [start, end, ...place] of inside) {
        between(start);
        nodes.push(this.#word(text.slice(start, end), place, left, top));
        at = end;
      }
      between(block.end);
      const size = { width: Math.max(...inside.map((word) => word[4])) - left, height: Math.max(...inside.map((word) => word[5])) - top };
      Object.assign(block.node.style, { left: `${left}px`, top: `${top}px`, width: `${size.width}px`, height: `${size.height}px` });
      block.node.classList.add("laid");
      this.#fill(number, nodes);
    }
    this.onlayout();
  }

  #word(text, [x0, y0, x1, y1, direction], left, top) {
    const upright = direction % 2 === 0;
    const [length, height] = upright ? [x1 - x0, y1 - y0] : [y1 - y0, x1 - x0];
    const size = height * 0.85;
    measure.font = `${size}px sans-serif`;
    const stretch = `scaleX(${length / Math.max(0.1, measure.measureText(text).width)})`;
    const way = direction === 2 && FROM_THE_RIGHT.test(text) ? 0 : direction; // such letters stand upright
    const turn = { 1: "rotate(90deg) ", 2: "rotate(180deg) ", 3: "rotate(-90deg) " }[way] ?? "";
    const [x, y] = { 1: [x1, y0], 2: [x1, y1], 3: [x0, y1] }[way] ?? [x0, y0];
    const style = { left: `${x - left}px`, top: `${y - top}px`, fontSize: `${size}px`, lineHeight: `${height}px`, transform: turn + stretch };
    return Object.assign(make("span", "pdf-word", style), { textContent: text });
  }

  /** Give a block other text nodes; the caret and the entry point stay in it, and its highlights are painted again. */
  #fill(number, nodes) {
    const { node } = this.view.blocks[number];
    node.replaceChildren(...nodes, ...node.querySelectorAll(".caret, .entry"));
    this.painter.refresh(number);
  }
}
