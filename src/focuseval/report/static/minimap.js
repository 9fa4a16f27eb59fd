// The whole article at a glance: highlighted text, A and B as three lanes, and a frame around what is in view.
"use strict";
(() => {
  const { byId } = focuseval;
  const LANES = [[1, "--mark-gold", 0], [2, "--a", 1], [4, "--b", 2]];

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  /** The character at a height of the pane, roughly: sheets know their place, inside of one it is a matter of share. */
  const characterAt = (sheets, height) => {
    let low = 0;
    let high = sheets.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { offsetTop, offsetHeight } = sheets[middle].node;
      if (offsetTop + offsetHeight > height) high = middle;
      else low = middle + 1;
    }
    const { start, end, node } = sheets[low];
    const share = (height - node.offsetTop) / Math.max(1, node.offsetHeight);
    return start + Math.min(1, Math.max(0, share)) * (end - start);
  };

  const paint = (canvas, pane, state) => {
    const context = canvas.getContext("2d");
    const { width, height } = canvas;
    context.clearRect(0, 0, width, height);
    const lane = width / 3;
    for (const [bit, name, place] of LANES) {
      context.fillStyle = colour(name) || (matchMedia("(prefers-color-scheme: dark)").matches ? "#d8b84a" : "#c79a00");
      for (const [start, end, bits] of state.fragments) {
        if (!(bits & bit)) continue;
        const top = (start / state.length) * height;
        context.fillRect(place * lane + 2, top, lane - 4, Math.max(1.5, ((end - start) / state.length) * height));
      }
    }
    const sheets = pane.focusevalSheets ?? [];
    if (!sheets.length) return;
    const [top, bottom] = [pane.scrollTop, pane.scrollTop + pane.clientHeight].map((y) => (characterAt(sheets, y) / state.length) * height);
    context.strokeStyle = colour("--ink");
    context.lineWidth = 1.5;
    context.strokeRect(1, top + 0.75, width - 2, Math.max(6, bottom - top - 1.5));
  };

  /** Show an article's overview, or nothing where the whole article is in view anyway. */
  focuseval.minimap = (() => {
    let state = null;
    let waiting = false;
    const [canvas, pane] = [() => byId("minimap"), () => byId("heat-text")];
    const later = () => {
      if (waiting || !state) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        if (state) paint(canvas(), pane(), state);
      });
    };
    const show = (fragments, length) => {
      const long = pane().scrollHeight > pane().clientHeight * 1.3;
      canvas().hidden = !long;
      state = long ? { fragments, length } : null;
      if (!long) return;
      canvas().width = canvas().clientWidth;
      canvas().height = canvas().clientHeight;
      later();
    };
    const start = () => {
      pane().addEventListener("scroll", later, { passive: true });
      canvas().addEventListener("click", (event) => {
        if (!state) return;
        const position = (event.offsetY / canvas().clientHeight) * state.length;
        const sheet = pane().focusevalSheets.find((one) => one.end > position);
        if (!sheet) return;
        focuseval.bring(pane(), sheet.node, 0);
        pane().scrollTop += ((position - sheet.start) / (sheet.end - sheet.start)) * sheet.node.offsetHeight;
      });
    };
    return { show, start };
  })();
})();
