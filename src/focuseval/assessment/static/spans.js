// Highlights as sorted, disjoint, never touching [start, end) pairs; the same algebra as the server's rules.

export function add(spans, start, end) {
  const before = spans.filter((span) => span[1] < start);
  const after = spans.filter((span) => span[0] > end);
  const touched = spans.slice(before.length, spans.length - after.length);
  const from = Math.min(start, ...touched.slice(0, 1).map((span) => span[0]));
  const to = Math.max(end, ...touched.slice(-1).map((span) => span[1]));
  return [...before, [from, to], ...after];
}

export function subtract(spans, start, end) {
  return spans.flatMap(([a, b]) => {
    if (b <= start || a >= end) return [[a, b]];
    return [[a, Math.min(b, start)], [Math.max(a, end), b]].filter(([x, y]) => x < y);
  });
}

export function merge(spans) {
  const merged = [];
  for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = merged[merged.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

export function intersect(left, right) {
  const shared = [];
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    const start = Math.max(left[i][0], right[j][0]);
    const end = Math.min(left[i][1], right[j][1]);
    if (start < end) shared.push([start, end]);
    if (left[i][1] < right[j][1]) i += 1;
    else j += 1;
  }
  return shared;
}

/** The span around a position, or null. */
export function around(spans, position) {
  return spans.find(([start, end]) => start <= position && position < end) ?? null;
}

/** A function that tells how many highlighted characters lie before a position. */
export function counter(spans) {
  const before = [0];
  for (const [start, end] of spans) before.push(before[before.length - 1] + end - start);
  return (position) => {
    let low = 0;
    let high = spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spans[middle][0] < position) low = middle + 1;
      else high = middle;
    }
    return low ? before[low] - Math.max(0, spans[low - 1][1] - position) : 0;
  };
}
