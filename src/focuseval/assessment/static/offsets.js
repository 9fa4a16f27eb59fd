// The only place where browser offsets (UTF-16 units) and our positions (code points) meet.

/**
 * Both directions for one text. A unit in the middle of a surrogate pair counts as the pair's beginning.
 * Only the pairs are stored, so a long text without any costs nothing.
 */
export function offsets(text) {
  const lows = [];
  for (const pair of text.matchAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)) lows.push(pair.index + 1);
  const count = (isBefore) => {
    let low = 0;
    let high = lows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    toCodePoint: (unit) => unit - count((k) => lows[k] <= unit),
    toUnit: (position) => position + count((k) => lows[k] - 1 - k < position),
  };
}
