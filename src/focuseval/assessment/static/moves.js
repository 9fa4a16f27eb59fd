// Where a caret goes: by character, word, sentence or block. Positions are units of the whole text.

const segmenters = new Map();

function segments(granularity, text) {
  if (!segmenters.has(granularity)) segmenters.set(granularity, new Intl.Segmenter(undefined, { granularity }));
  return segmenters.get(granularity).segment(text);
}

/** Ends of the segments of one block; for words, a word takes the blanks before it along. */
function edges(view, block, granularity) {
  const found = [];
  for (const segment of segments(granularity, view.text.slice(block.start, block.end))) {
    if (granularity !== "word" || segment.isWordLike) found.push(block.start + segment.index + segment.segment.length);
  }
  if (found[found.length - 1] !== block.end) found.push(block.end);
  return found;
}

export function forward(view, unit, granularity) {
  for (let number = view.blockAt(unit); number < view.blocks.length; number += 1) {
    const block = view.blocks[number];
    if (block.kind === "gap") continue;
    const next = edges(view, block, granularity).find((edge) => edge > unit);
    if (next !== undefined) return next;
  }
  return view.text.length;
}

export function backward(view, unit, granularity) {
  for (let number = view.blockAt(Math.max(0, unit - 1)); number >= 0; number -= 1) {
    const block = view.blocks[number];
    if (block.kind === "gap") continue;
    const starts = [...segments(granularity, view.text.slice(block.start, block.end))]
      .filter((segment) => granularity !== "word" || segment.isWordLike)
      .map((segment) => block.start + segment.index);
    const before = starts.filter((start) => start < unit).pop();
    if (before !== undefined) return before;
  }
  return 0;
}

/** The next block that shows something, in either direction; null at the ends. */
export function nextBlock(view, number, step) {
  for (let k = number + step; k >= 0 && k < view.blocks.length; k += step) {
    if (view.blocks[k].kind !== "gap" && !view.blocks[k].folded) return k;
  }
  return null;
}

/** A span without the blanks at its ends: what a person means by "this sentence". */
export function trimmed(view, start, end) {
  let [from, to] = [start, end];
  while (from < to && /\s/.test(view.text[from])) from += 1;
  while (to > from && /\s/.test(view.text[to - 1])) to -= 1;
  return from < to ? [from, to] : [start, end];
}

/** A span whose ends are those of whole words or sentences, without the blanks around it. */
export function snapped(view, start, end, granularity) {
  if (granularity === "characters") return trimmed(view, start, end);
  const unit = granularity === "sentences" ? "sentence" : "word";
  const around = (place) => {
    const block = view.blocks[view.blockAt(place)];
    for (const segment of segments(unit, view.text.slice(block.start, block.end))) {
      const [from, to] = [block.start + segment.index, block.start + segment.index + segment.segment.length];
      if (from <= place && place < to) return unit === "word" && !segment.isWordLike ? [place, place + 1] : [from, to];
    }
    return [place, place + 1];
  };
  const [from, to] = trimmed(view, start, end);
  return trimmed(view, around(from)[0], around(to - 1)[1]);
}
