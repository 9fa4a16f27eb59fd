// Pages of a PDF as they look, with what was found, missed and wasted drawn on them.
"use strict";
(() => {
  const { kindOf, node } = focuseval;

  /** The pictures of those pages of a document on which something is drawn, before its text; `fragments` [start, end, bits] count in the whole document. */
  focuseval.showPages = (root, view, fragments, name) => {
    root.querySelector(".page-pictures")?.remove();
    if (!view.sheets?.length) return;
    const marked = fragments.filter(([, , bits]) => kindOf(bits));
    const strip = node("div", { class: "page-pictures", tabindex: "0", role: "group", "aria-label": "Pages as they look" });
    for (const { page, width, height, picture, words } of view.sheets) {
      const frame = node("div", { class: "page-frame" }, node("img", { src: `data:image/png;base64,${picture}`, alt: `Page ${page}`, width, height }));
      for (let i = 0; i < words.length; i += 6) {
        const [from, to, left, top, right, bottom] = words.slice(i, i + 6);
        for (const [start, end, bits] of marked) {
          if (start >= to || end <= from) continue;
          const [low, high] = [start, end].map((at) => left + ((right - left) * (Math.min(Math.max(at, from), to) - from)) / (to - from));
          const kind = kindOf(bits);
          const place = `left:${(100 * low) / width}%;top:${(100 * top) / height}%;width:${(100 * (high - low)) / width}%;height:${(100 * (bottom - top)) / height}%`;
          frame.append(node("span", { class: `drawn ${kind.css}`, style: place, title: name(kind) }));
        }
      }
      if (frame.children.length > 1) strip.append(node("figure", {}, frame, node("figcaption", { class: "note" }, `page ${page}`)));
    }
    if (strip.children.length) root.prepend(strip);
  };
})();
