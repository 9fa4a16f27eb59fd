// The element table of a document: what contains a position or a span, and how specific everything is.

import { counter } from "./spans.js";

export class Elements {
  constructor({ path, start, end, parent }) {
    Object.assign(this, { path, start, end, parent });
  }

  get length() {
    return this.path.length;
  }

  tag(row) {
    return this.path[row].slice(this.path[row].lastIndexOf("/") + 1);
  }

  /** Rows from the innermost element that contains [start, end) out to the root. */
  chain(start, end = start + 1) {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[middle] <= start) low = middle + 1;
      else high = middle;
    }
    const rows = [];
    for (let row = low - 1; row >= 0; row = this.parent[row]) if (this.end[row] >= end) rows.push(row);
    return rows;
  }

  /** The spans of elements that are graded as relevant and contain no other such one. */
  innermost(grades) {
    const relevant = this.path.flatMap((path, row) => ((grades[path] ?? "0")[0] > "0" ? [row] : []));
    const outer = new Set(relevant.flatMap((row) => this.chain(this.start[row], this.end[row]).filter((other) => other < row)));
    return relevant.filter((row) => !outer.has(row)).map((row) => [this.start[row], this.end[row]]);
  }

  /** For every row, its highlighted and its whole size. */
  sizes(highlights) {
    const before = counter(highlights);
    return this.path.map((_, row) => ({
      rsize: before(this.end[row]) - before(this.start[row]),
      size: this.end[row] - this.start[row],
    }));
  }
}

export function percent({ rsize, size }) {
  if (!size) return "–";
  const share = (100 * rsize) / size;
  return share > 0 && share < 1 ? "<1 %" : share < 100 && share > 99 ? ">99 %" : `${Math.round(share)} %`;
}
