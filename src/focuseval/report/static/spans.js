// An article cut into fragments: which are highlighted, returned by A, returned by B. Positions are code points.
"use strict";
(() => {
  const GOLD = 1;
  const A = 2;
  const B = 4;

  /** What a set of bits means, its classes, and its name for a reader. */
  focuseval.KINDS = [
    { bits: GOLD | A | B, css: "m g a b", name: "found by A and B" },
    { bits: GOLD | A, css: "m g a", name: "found by A only" },
    { bits: GOLD | B, css: "m g b", name: "found by B only" },
    { bits: GOLD, css: "m g x", name: "missed" },
    { bits: A | B, css: "m w a b", name: "wasted by A and B" },
    { bits: A, css: "m w a", name: "wasted by A" },
    { bits: B, css: "m w b", name: "wasted by B" },
  ];

  /** A kind's name: without a second run nothing is "only", without highlighted text nothing is "wasted". */
  focuseval.nameOf = (kind, two, highlighted) => {
    const name = two ? kind.name : kind.name.replace("found by A only", "found by A");
    return highlighted ? name : name.replace("wasted", "returned");
  };

  focuseval.kindOf = (bits) => focuseval.KINDS.find((kind) => kind.bits === bits);

  /** Fragments [start, end, bits] of a text of `length` characters; spans are flat lists start, end, start, end … */
  focuseval.fragments = (length, gold, a, b) => {
    const turns = [];
    for (const [spans, bit] of [[gold, GOLD], [a, A], [b, B]]) {
      for (let i = 0; i < spans.length; i += 2) turns.push([spans[i], bit], [Math.min(spans[i + 1], length), -bit]);
    }
    turns.sort((one, other) => one[0] - other[0]);
    const pieces = [];
    let at = 0;
    let bits = 0;
    for (const [position, turn] of turns) {
      if (position > at) pieces.push([at, position, bits]);
      at = Math.max(at, position);
      bits += turn;
    }
    if (at < length) pieces.push([at, length, bits]);
    return pieces;
  };

  /** Characters of every kind, by bits. */
  focuseval.sizes = (fragments) => {
    const sizes = new Array(8).fill(0);
    for (const [start, end, bits] of fragments) sizes[bits] += end - start;
    return sizes;
  };

  /** A span of a document as [start, end] in the text that is embedded of it: pieces stand one after the other. */
  focuseval.projected = (view, start, end) => {
    let shown = 0;
    let [low, high] = [null, 0];
    for (let i = 0; i < view.pieces.length; i += 2) {
      const [from, to] = view.pieces.slice(i, i + 2);
      const [first, last] = [Math.max(start, from), Math.min(end, to)];
      if (first < last || (start === end && from <= start && start < to)) {
        low ??= shown + first - from;
        high = shown + Math.max(first, last) - from;
      }
      shown += to - from;
    }
    return low === null ? [0, 0] : [low, high];
  };

  /** Spans of a document, flat, as spans of the embedded text; what is not embedded is left out. */
  focuseval.projectedAll = (view, flat) => {
    const ends = [];
    for (let i = 0; i < flat.length; i += 2) {
      const [start, end] = focuseval.projected(view, flat[i], flat[i + 1]);
      if (end > start) ends.push(start, end);
    }
    return ends;
  };

  /** Characters of the embedded text. */
  focuseval.shownLength = (view) => view.pieces.reduce((sum, position, i) => sum + (i % 2 ? position : -position), 0);

  /** A function from code points to UTF-16 units of a text; the identity where every character is one unit. */
  focuseval.units = (text, length) => {
    if (text.length === length) return (position) => position;
    const starts = new Uint32Array(length + 1);
    let unit = 0;
    for (let position = 0; position < length; position += 1) {
      starts[position] = unit;
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
    }
    starts[length] = unit;
    return (position) => starts[position];
  };

  const known = new WeakMap();

  /** The same for what is embedded of a document, made once. */
  focuseval.unitsOf = (view) => {
    if (!known.has(view)) known.set(view, focuseval.units(view.text, focuseval.shownLength(view)));
    return known.get(view);
  };
})();
