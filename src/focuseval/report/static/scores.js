// Values, means and tests of the chosen runs: looked up, never computed again.
"use strict";
(() => {
  const { choices, state } = focuseval.choice;
  const SAME = 1e-6; // values have six decimals

  const round = (value) => Math.round(value * 1e6) / 1e6;

  /** The values of one run under one measure, topic by topic. */
  const valuesOf = (run, measure = state.measure) => choices().values[measure][run];

  /** Every topic with a value in A and B, from A's greatest loss to its greatest gain. */
  const topicRows = (a = state.a, b = state.b, measure = state.measure) => {
    const [one, other] = [valuesOf(a, measure), b < 0 ? null : valuesOf(b, measure)];
    const rows = [];
    one.forEach((value, topic) => {
      const second = other ? other[topic] : 0;
      if (value === null || second === null) return;
      rows.push({ topic, a: value, b: other ? second : null, difference: round(value - second) });
    });
    return rows.sort((x, y) => x.difference - y.difference || x.topic - y.topic);
  };

  /** Where a pair stands in the list of all pairs: 0–1, 0–2 … 1–2 … */
  const pairPlace = (a, b) => {
    const [first, second] = a < b ? [a, b] : [b, a];
    return first * choices().runs.length - (first * (first + 1)) / 2 + (second - first - 1);
  };

  /** How A compares with B: difference, interval, p and verdict; null where the pair was not tested. */
  const pair = (a = state.a, b = state.b, measure = state.measure) => {
    const { pairs } = choices();
    if (b < 0 || a === b || !pairs[measure]) return null;
    const found = pairs[measure][pairPlace(a, b)];
    if (!found) return null;
    const sign = a < b ? 1 : -1;
    const [difference, low, high, p, corrected, code, ties, detectable, needed, reason] = found;
    const interval = sign > 0 ? [low, high] : [-high, -low];
    return { difference: sign * difference, interval, p, corrected, code: sign * code, ties, detectable, needed, reason };
  };

  const meanOf = (run, measure = state.measure) => choices().means[measure][run][0];

  /** Measures under which B is ahead where A is, or the other way round. */
  const reversed = (a = state.a, b = state.b, measure = state.measure) => {
    const sign = Math.sign(meanOf(a, measure) - meanOf(b, measure));
    return choices().measures.filter((_, m) => {
      const difference = meanOf(a, m) - meanOf(b, m);
      return m !== measure && Math.abs(difference) > SAME && Math.sign(difference) * sign < 0;
    });
  };

  const rounded = (value) => Math.round(value * 1e4);

  /** The largest gains of A and of B, half of each where there are enough; equal ones once, counted. */
  const carrying = (rows, most = 6) => {
    const alike = new Map();
    for (const row of rows) {
      const size = rounded(row.difference);
      if (size) alike.set(size, { ...(alike.get(size) ?? row), alike: (alike.get(size)?.alike ?? 0) + 1 });
    }
    const told = [...alike.entries()].sort((x, y) => x[0] - y[0]).map(([, row]) => row);
    const losses = told.filter((row) => row.difference < 0);
    const gains = told.filter((row) => row.difference > 0).reverse();
    const half = Math.floor(most / 2);
    return [...gains.slice(0, Math.max(half, most - losses.length)), ...losses.slice(0, Math.max(half, most - gains.length))];
  };

  const counts = (rows) => {
    const won = rows.filter((row) => row.difference > 0).length;
    const lost = rows.filter((row) => row.difference < 0).length;
    return { won, lost, tied: rows.length - won - lost, topics: rows.length };
  };

  /** How many topics' gains make the whole difference, and whose they are. */
  const carried = (rows) => {
    const total = rows.reduce((sum, row) => sum + row.difference, 0);
    if (Math.abs(total) <= SAME) return { needed: 0, side: "" };
    const gains = rows.map((row) => Math.sign(total) * row.difference).sort((x, y) => y - x);
    let [sum, needed] = [0, 0];
    while (sum < Math.abs(total) - SAME) sum += gains[needed++];
    return { needed, side: total > 0 ? "A" : "B" };
  };

  const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);

  focuseval.scores = { carried, carrying, counts, mean, meanOf, pair, pairPlace, reversed, topicRows, valuesOf };
})();
