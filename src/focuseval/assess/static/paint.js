// Layers of painted spans over a text view: the CSS Custom Highlight API, or <mark> where it is missing.

const SUPPORTED = typeof Highlight === "function" && typeof CSS !== "undefined" && "highlights" in CSS;

export function createPainter(view, { marks = !SUPPORTED } = {}) {
  return marks ? new MarkPainter(view) : new HighlightPainter(view);
}

/** One Highlight per layer; an edit adds and removes only the ranges that changed. */
class HighlightPainter {
  constructor(view) {
    this.view = view;
    this.layers = new Map();
  }

  set(name, spans, priority = 0) {
    if (!this.layers.has(name)) {
      const highlight = new Highlight();
      highlight.priority = priority;
      CSS.highlights.set(name, highlight);
      this.layers.set(name, { highlight, ranges: new Map() });
    }
    const { highlight, ranges } = this.layers.get(name);
    const wanted = new Map(spans.map(([start, end]) => [`${start}-${end}`, [start, end]]));
    for (const [key, range] of ranges) {
      if (!wanted.has(key)) {
        highlight.delete(range);
        ranges.delete(key);
      }
    }
    for (const [key, [start, end]] of wanted) {
      if (!ranges.has(key)) {
        const range = this.view.staticRange(start, end);
        ranges.set(key, range);
        highlight.add(range);
      }
    }
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
    const kept = [...block.node.children].filter((child) => child.tagName !== "MARK");
    const pieces = edges.slice(1).map((end, k) => {
      const names = inside.filter(([, a, b]) => a <= edges[k] && end <= b).map(([name]) => name);
      const text = document.createTextNode(this.view.text.slice(edges[k], end));
      if (!names.length) return text;
      const mark = document.createElement("mark");
      mark.className = names.join(" ");
      mark.append(text);
      return mark;
    });
    block.node.replaceChildren(...kept, ...pieces);
  }
}
