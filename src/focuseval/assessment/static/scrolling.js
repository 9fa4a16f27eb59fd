// The caret goes where the eyes go: after scrolling it stands in the first paragraph that is seen.

/** The first block of text whose beginning is in sight, else the one that fills the window. */
export function firstSeen(view, scroller) {
  const { top, bottom } = scroller.getBoundingClientRect();
  const shown = view.blocks.filter((block) => block.kind !== "gap" && !block.folded);
  let low = 0;
  let high = shown.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shown[middle].node.getBoundingClientRect().bottom > top + 4) high = middle;
    else low = middle + 1;
  }
  const following = shown[low + 1];
  const isCut = shown[low]?.node.getBoundingClientRect().top < top - 4;
  const nextInSight = following && following.node.getBoundingClientRect().top < bottom - 24;
  return isCut && nextInSight ? following : shown[low];
}

export function isSeen(view, scroller, unit) {
  const frame = scroller.getBoundingClientRect();
  const box = view.range(unit, Math.min(unit + 1, view.text.length)).getBoundingClientRect();
  return box.bottom > frame.top && box.top < frame.bottom;
}

export class Scrolling {
  constructor(view, scroller, cursor) {
    Object.assign(this, { view, scroller, cursor });
    scroller.addEventListener("scroll", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.follow(), 120);
    }, { passive: true });
  }

  /** One window up or down; the caret goes along at once. */
  page(step) {
    const by = step * Math.max(40, this.scroller.clientHeight - 60);
    this.scroller.scrollTo({ top: this.scroller.scrollTop + by, behavior: "instant" });
    this.follow();
  }

  /** To the first or the last block that is shown. */
  end(last) {
    const isShown = (block) => block.kind !== "gap" && !block.folded;
    const block = last ? this.view.blocks.findLast(isShown) : this.view.blocks.find(isShown);
    if (block) this.cursor.go(block.start);
  }

  follow() {
    clearTimeout(this.timer);
    if (!this.cursor.collapsed || isSeen(this.view, this.scroller, this.cursor.caret)) return;
    const block = firstSeen(this.view, this.scroller);
    if (block) this.cursor.go(block.start, { show: false });
  }
}
