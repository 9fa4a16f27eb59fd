// What stands around blocks of text and inside of them: elements that are opened and closed as positions pass by.
"use strict";
(() => {
  const MATH = "http://www.w3.org/1998/Math/MathML";
  const OWN = new Set(["sub", "sup", "strong", "em", "code"]);
  const ROLES = { grid: "table", row: "row", cell: "cell", head: "columnheader" };
  const SPANS = new Set(["link", "apart", "tex"]);

  function made(name, columns) {
    if (name === "image") {
      const image = Object.assign(document.createElement("div"), { className: "image" });
      image.dataset.name = columns.split("/").at(-1);
      return image;
    }
    if (name in ROLES) {
      const group = document.createElement("div");
      group.className = name;
      group.setAttribute("role", ROLES[name]);
      if (name === "grid") {
        group.style.setProperty("--columns", columns);
        group.tabIndex = 0; // a wide one scrolls
        group.setAttribute("aria-label", "Table");
      }
      else if (columns > 1) group.style.gridColumn = `span ${columns}`;
      return group;
    }
    if (OWN.has(name)) return document.createElement(name);
    if (!SPANS.has(name)) return document.createElementNS(MATH, name);
    return Object.assign(document.createElement("span"), { className: name });
  }

  /** Spans are [start, end, name, depth, columns], in the order of the document; positions must not decrease. */
  class Nest {
    constructor(root, spans) {
      this.stack = [{ node: root, end: Infinity }];
      Object.assign(this, { spans, next: 0 });
    }

    /** The element that what stands at a position goes into. */
    holder(position) {
      for (; this.next < this.spans.length && this.spans[this.next][0] <= position; this.next += 1) {
        const [, end, name, depth, columns] = this.spans[this.next];
        this.stack.length = Math.min(this.stack.length, depth + 1);
        const node = made(name, columns);
        this.stack.at(-1).node.append(node);
        this.stack.push({ node, end });
      }
      while (this.stack.at(-1).end <= position) this.stack.pop();
      return this.stack.at(-1).node;
    }

    /** The next position at which something begins or ends. */
    get edge() {
      return Math.min(this.stack.at(-1).end, this.spans[this.next]?.[0] ?? Infinity);
    }
  }

  globalThis.FocusevalNest = Nest;
})();
