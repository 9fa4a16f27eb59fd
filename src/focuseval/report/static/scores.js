// Values, comparisons and sentences of the chosen runs, as Python embedded them. Two functions compute what Python cannot know, and tests hold
// them against Python's: the difference of a topic (`topicRows`), and means over topics that a reader chooses (`mean`).
"use strict";
(() => {
  const { count, four, signed, visible } = focuseval;
  const { choices, state } = focuseval.choice;
  const decoded = new Map();

  /** The values of one run under one measure, topic by topic; NaN where a topic is not in the mean. */
  const valuesOf = (run, measure = state.measure) => {
    if (!decoded.has(measure)) {
      const bytes = Uint8Array.from(atob(choices().values[measure]), (one) => one.charCodeAt(0));
      decoded.set(measure, new Float64Array(bytes.buffer));
    }
    const topics = choices().topics.length;
    return decoded.get(measure).subarray(run * topics, (run + 1) * topics);
  };

  /** Every topic that is compared, from A's greatest loss to its greatest gain; of a single run every topic with a value. */
  const topicRows = (a = state.a, b = state.b, measure = state.measure) => {
    const [one, other] = [valuesOf(a, measure), b < 0 ? null : valuesOf(b, measure)];
    const compared = (other && choices().compared[measure]) ?? [...one.keys()];
    const topics = compared.filter((topic) => !Number.isNaN(one[topic]) && !(other && Number.isNaN(other[topic])));
    const largest = other ? topics.reduce((most, topic) => Math.max(most, Math.abs(one[topic]), Math.abs(other[topic])), 0) : 0;
    const rows = topics.map((topic) => {
      const difference = one[topic] - (other ? other[topic] : 0);
      return { topic, a: one[topic], b: other ? other[topic] : null, difference: Math.abs(difference) <= largest * choices().noise ? 0 : difference };
    });
    return rows.sort((x, y) => x.difference - y.difference || x.topic - y.topic);
  };

  const mean = (values) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null);

  /** Where a pair stands in the list of all pairs: 0–1, 0–2 … 1–2 … */
  const pairPlace = (a, b) => {
    const [first, second] = a < b ? [a, b] : [b, a];
    return first * choices().runs.length - (first * (first + 1)) / 2 + (second - first - 1);
  };

  /** How A compares with B, every number A less B; null where no topic is compared. */
  const pair = (a = state.a, b = state.b, measure = state.measure) => {
    const { baseline, comparisons } = choices();
    if (b < 0 || a === b || !comparisons?.measures[measure]) return null;
    const { means, methods, pairs, topics } = comparisons.measures[measure];
    const numbers = pairs[pairPlace(a, b)];
    if (!numbers) return null;
    const found = Object.fromEntries(comparisons.fields.map((name, i) => [name, numbers[i]]));
    const whole = { ...found, topics, tied: topics - found.won - found.lost, means: [means[a], means[b]], reason: comparisons.reasons[found.reason] ?? "",
      method: baseline === null || a === baseline || b === baseline ? methods[0] : methods.at(-1) };
    if (a < b) return whole;
    return { ...whole, difference: -found.difference, low: -found.high, high: -found.low, code: -found.code, won: found.lost, lost: found.won };
  };

  /** A sentence from its template: a number n decides between singular and plural, whole numbers get commas. */
  const fill = (name, values = {}) => {
    const form = choices().comparisons.templates[name];
    const text = typeof form === "string" ? form : form[values.n === 1 ? 0 : 1];
    return text.replace(/\{(\w+)\}/g, (_, key) => (typeof values[key] === "number" ? count(values[key]) : values[key]));
  };

  const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

  /** Ten-thousandths as Python printed them; what is smaller comes as text. */
  const shown = (value) => (typeof value === "number" ? four(value / 1e4) : value);

  /** What these topics could have shown, and what the observed difference would need, as `inference.paired.power` says it. */
  const power = ({ detectable, needed, fewest, most, topics }) => {
    if (topics === 1) return fill("one topic");
    if (detectable === null && needed === null) return "";
    const said = needed === null ? fill("never") : fill("needed", { n: needed, span: fill("to", { fewest, most: most ?? "–" }) });
    return detectable === null ? fill("no power", { needed: said }) : fill("power", { detectable: shown(detectable), needed: said });
  };

  /** Word, headline and reason of A against B, as `Comparison.verdict_of` says them. */
  const verdict = (a = state.a, b = state.b, measure = state.measure) => {
    const [names, name, found] = [choices().runs.map(visible), visible(choices().measures[measure]), pair(a, b, measure)];
    if (!found) return { word: "cannot tell", headline: choices().undecided[0], reason: choices().undecided[1].replace("{measure}", () => name) };
    const word = { 2: "better", "-2": "worse" }[found.code] ?? "cannot tell";
    const p = shown(found.p);
    const numbers = fill("numbers", {
      ...Object.fromEntries(["difference", "low", "high"].map((key) => [key, signed(found[key] / 1e4)])),
      p: p.startsWith("<") ? `< ${p.slice(1)}` : `= ${p}`,
      corrected: found.corrected === null ? "" : fill("corrected", { p: shown(found.corrected) }),
      reason: found.reason ? fill("reason", { reason: found.reason }) : "",
    });
    const reason = fill("means", { measure: name, mean_a: found.means[0], mean_b: found.means[1], topics: fill("topics", { n: found.topics }),
      tied: found.tied ? fill("tied", { n: found.tied }) : "", numbers, power: power(found), test: fill("test", { method: visible(found.method) }) });
    const kind = !(found.won || found.lost) ? "same" : word === "cannot tell" && !found.code ? "even" : word;
    const [one, other] = kind === "cannot tell" && found.code < 0 ? [b, a] : [a, b]; // the run with the higher mean first
    return { word, headline: fill(kind, { a: names[one], b: names[other] }), reason };
  };

  /** On how many topics A is better, and how few of them make the difference. */
  const wins = (a = state.a, b = state.b, measure = state.measure) => {
    const found = pair(a, b, measure);
    if (!found) return "";
    const sides = [["A", found.won], ["B", found.lost], [found.won || found.lost ? "neither" : "Neither", found.tied]].filter(([, n]) => n);
    const counts = fill("wins", { counts: listed(sides.map(([side, n], i) => fill(i ? "side" : "first side", { side, n }))), topics: fill("topics", { n: found.topics }) });
    if (!found.code) return `${counts} ${fill("level")}`;
    if (!found.gains) return counts;
    const topics = listed(found.gaining.map((place) => visible(choices().topics[choices().compared[measure]?.[place] ?? place])));
    return `${counts} ${fill(topics ? "gains" : "many gains", { n: found.gains, names: topics, side: found.code > 0 ? "A" : "B" })}`;
  };

  /** The measures under which the order of A and B is another one, in a sentence. */
  const otherOrder = (a = state.a, b = state.b, measure = state.measure) => {
    const { measures } = choices();
    const code = pair(a, b, measure)?.code;
    const names = code === undefined ? [] : measures.filter((name, m) => !name.startsWith("ceiling(") && (pair(a, b, m)?.code ?? 0) * (code || 1) < 0).map(visible);
    if (!names.length) return "";
    const some = names.length <= 4 ? names : [...names.slice(0, 3), fill("more measures", { n: names.length - 3, all: measures.filter((name) => !name.startsWith("ceiling(")).length - 1 })];
    return fill("other order", { measures: listed(some) });
  };

  /** The largest gains of A and of B, half of each where there are enough; of those that are printed alike the first, counted. */
  const carrying = (rows, most = 6) => {
    const alike = new Map();
    for (const row of rows) {
      const size = signed(row.difference);
      alike.set(size, { ...(alike.get(size) ?? row), alike: (alike.get(size)?.alike ?? 0) + 1 });
    }
    alike.delete(signed(0));
    const losses = [...alike.values()].filter((row) => row.difference < 0);
    const gains = [...alike.values()].filter((row) => row.difference > 0).reverse();
    const half = Math.floor(most / 2);
    return [...gains.slice(0, Math.max(half, most - losses.length)), ...losses.slice(0, Math.max(half, most - gains.length))];
  };

  focuseval.scores = { carrying, mean, otherOrder, pair, pairPlace, topicRows, valuesOf, verdict, wins };
})();
