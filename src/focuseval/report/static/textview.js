// The text of an article as blocks, built a few at a time, so that a long document never holds up the page.
"use strict";
(() => {
  const { appendText, count, kindOf, node, pause } = focuseval;
  const Nest = globalThis.FocusevalNest;
  const LONG = 3000;
  const SHEET = 5000;
  const SLICE = 12;

  /** Blocks as [start, end, kind, level, cut, number]; a very long one is cut at a blank into several that touch. */
  const blocksOf = (view, unit) => {
    const pieces = [];
    let start = 0;
    for (let i = 0; i < view.blocks.length; i += 3) {
      const end = start + view.blocks[i];
      const [kind, level] = [view.kinds[view.blocks[i + 1]], view.blocks[i + 2]];
      while (end - start > LONG * 1.5) {
        let cut = start + LONG;
        while (cut > start + LONG / 2 && !/\s/.test(view.text[unit(cut) - 1])) cut -= 1;
        pieces.push([start, cut, kind, level, true, i / 3]);
        start = cut;
      }
      const blank = kind === "gap" || !view.text.slice(unit(start), unit(end)).trim(); // space between blocks is the style sheet's
      if (!blank) pieces.push([start, end, kind, level, false, i / 3]);
      start = end;
    }
    return pieces;
  };

  /** Where elements begin and end, sorted: [position, order, label, path]. Ends come before starts, inner ends first. */
  const edgesOf = (view) => {
    const marks = [];
    const path = [];
    for (let i = 0; i < view.elements.length; i += 4) {
      const [start, size, depth, step] = view.elements.slice(i, i + 4);
      path.length = depth;
      path.push(view.steps[step]);
      const whole = `/${path.join("/")}`;
      if (size) marks.push([start, depth, `‹${view.steps[step]}`, whole, false], [start + size, -1e6 - depth, "›", `end of ${whole}`, true]);
    }
    return marks.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  };

  /** The path of the element that is exactly a span, the outermost of several; nothing where none is. */
  focuseval.pathOf = (view, from, to) => {
    const path = [];
    for (let i = 0; i < view.elements.length; i += 4) {
      const [start, size, depth, step] = view.elements.slice(i, i + 4);
      path.length = depth;
      path.push(view.steps[step]);
      if (start === from && start + size === to) return `/${path.join("/")}`;
    }
    return "";
  };

  /** Where text is left out between the pieces of a document. */
  const gapsOf = (view) => {
    const gaps = [];
    let [shown, end] = [0, 0];
    for (let i = 0; i <= view.pieces.length; i += 2) {
      const start = view.pieces[i] ?? view.length;
      if (start > end) gaps.push({ at: shown, gap: true, label: `… ${count(start - end)} characters are not embedded …` });
      end = view.pieces[i + 1] ?? view.length;
      shown += end - start;
    }
    return gaps;
  };

  const stopNode = (stop) => {
    if (stop.gap) return node("span", { class: "gap", "data-gap": stop.label, role: "note", "aria-label": stop.label });
    if (stop.edge) return node("span", { class: "edge", "data-step": stop.label, title: stop.title });
    return node("span", { class: `pin ${stop.kind}`, "data-sign": stop.sign, "data-at": stop.result, title: stop.title, role: "img", "aria-label": stop.title });
  };

  /** One block: fragments in classes, pins and edges between them. */
  const blockNode = (state, [start, end, named, level, cut], next) => {
    const [kind, sign] = named.split(" ");
    const element = node("div", { class: `block ${kind}${cut ? " cut" : ""}`, dir: "auto", "data-sign": sign, tabindex: kind === "formula" ? "0" : null, style: level > 1 ? `margin-inline-start:${Math.min(level - 1, 5) * 8}px` : null });
    while (state.inline[state.inside]?.[0] < start) state.inside += 1;
    const own = [];
    for (; state.inline[state.inside]?.[0] < end && state.inline[state.inside][1] <= end; state.inside += 1) own.push(state.inline[state.inside]);
    const depth = own.length ? Math.min(...own.map((one) => one[3])) : 0;
    const nest = new Nest(element, own.map(([from, to, name, deep]) => [from, to, name, deep - depth]));
    const text = state.view.text.slice(state.unit(start), state.unit(end));
    const shown = end - (text.length - text.trimEnd().length); // blank characters are one unit each
    let at = start;
    while (at < end) {
      while (state.stop < state.stops.length && state.stops[state.stop].at <= at) element.append(stopNode(state.stops[state.stop++]));
      while (state.fragments[state.fragment][1] <= at) state.fragment += 1;
      const [, stop, bits] = state.fragments[state.fragment];
      const holder = nest.holder(at);
      const to = Math.min(end, stop, nest.edge, state.stops[state.stop]?.at ?? end, at < shown ? shown : end);
      const piece = state.view.text.slice(state.unit(at), state.unit(to));
      const found = kindOf(bits);
      const trail = at >= shown ? " trail" : "";
      if (found || trail) {
        const first = found && bits !== state.bits ? "" : null; // of a passage that may go through several blocks
        const mark = found ? node("mark", { class: found.css + trail, title: state.name(found), "data-first": first }) : node("span", { class: "trail" });
        appendText(mark, piece);
        holder.append(mark);
      } else appendText(holder, piece);
      state.bits = bits;
      at = to;
    }
    while (state.stops[state.stop]?.closes && state.stops[state.stop].at <= next) element.append(stopNode(state.stops[state.stop++]));
    return element;
  };

  /** Blocks stand on sheets of about two screens; what lies on a sheet out of sight costs the browser nothing. */
  const sheetEnd = (blocks, first, groups) => {
    let last = first + 1;
    while (last < blocks.length && last - first < 60 && blocks[last][1] - blocks[first][0] < SHEET) last += 1;
    const number = blocks[last]?.[5];
    const around = groups.find((group) => group[0] < number && number < group[1]); // a table is on one sheet
    while (around && last < blocks.length && blocks[last][5] < around[1]) last += 1;
    return last;
  };

  /** How high a sheet will be, roughly: the scroll bar needs to know before it is drawn. */
  const height = (blocks, first, last) => {
    let lines = 0;
    for (let i = first; i < last; i += 1) lines += Math.ceil((blocks[i][1] - blocks[i][0]) / 85);
    return Math.round(lines * 29.6 + (last - first) * 6);
  };

  /** Fill `root` with an article; resolves to true when it is complete, false when another one took its place. */
  focuseval.showText = async (root, view, fragments, { pins, elements: withElements, name }) => {
    const turn = (root.focusevalTurn = (root.focusevalTurn ?? 0) + 1);
    const unit = focuseval.unitsOf(view);
    const edges = withElements ? edgesOf(view).map(([at, , label, title, closes]) => ({ at, edge: true, label, title, closes })) : [];
    const stops = [...gapsOf(view), ...edges, ...pins].sort((one, other) => one.at - other.at);
    const state = { view, unit, fragments, stops, name, inline: view.inline ?? [], inside: 0, stop: 0, fragment: 0 };
    const groups = view.groups ?? [];
    const outer = groups.filter((group) => group[3] === 0);
    const blocks = blocksOf(view, unit);
    root.replaceChildren();
    root.focusevalSheets = [];
    let started = performance.now();
    for (let first = 0; first < blocks.length;) {
      const last = sheetEnd(blocks, first, outer);
      const sheet = node("div", { class: "sheet", style: `contain-intrinsic-block-size:auto ${height(blocks, first, last)}px` });
      const [from, to] = [blocks[first][5], blocks[last]?.[5] ?? Infinity];
      const nest = new Nest(sheet, groups.filter((group) => group[0] >= from && group[1] <= to));
      for (let i = first; i < last; i += 1) nest.holder(blocks[i][5]).append(blockNode(state, blocks[i], blocks[i + 1]?.[0] ?? Infinity));
      if (last === blocks.length) nest.holder(Number.MAX_SAFE_INTEGER); // an image behind the last block
      root.append(sheet);
      root.focusevalSheets.push({ start: blocks[first][0], end: blocks[last - 1][1], node: sheet });
      first = last;
      if (performance.now() - started > SLICE) {
        await pause();
        if (root.focusevalTurn !== turn) return false;
        started = performance.now();
      }
    }
    for (; state.stop < state.stops.length; state.stop += 1) root.lastElementChild?.lastElementChild?.append(stopNode(state.stops[state.stop]));
    if (!blocks.length) root.append(node("p", { class: "note" }, "This document has no text."));
    return true;
  };

  /** Scroll an element of the text into the upper part of its pane. Sheets get their true heights when the pane is in view: then again. */
  focuseval.bring = (root, target, frames = 5) => {
    const turn = (root.focusevalBrought = (root.focusevalBrought ?? 0) + 1);
    const step = (left) => {
      if (root.focusevalBrought !== turn || !target.isConnected) return;
      root.scrollTop += target.getBoundingClientRect().top - root.getBoundingClientRect().top - 70;
      if (left) requestAnimationFrame(() => step(left - 1));
    };
    step(frames);
    root.focusevalNear?.disconnect();
    root.focusevalNear = new IntersectionObserver((entries, near) => {
      if (!entries.some((one) => one.isIntersecting)) return;
      near.disconnect();
      step(frames);
    });
    if (frames) root.focusevalNear.observe(root);
  };

  focuseval.describe = (view) => `${count(view.length)} characters`;
})();
