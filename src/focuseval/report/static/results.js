// What a run returned for a topic up to a cut-off: so many results, articles, characters, words or tokens, or all.
"use strict";
(() => {
  const { data } = focuseval;
  const { choices, state } = focuseval.choice;
  const expanded = new Map();
  const complete = new Map(); // topics that a server has sent with all of their results
  const UNITS = { r: "results", a: "articles", c: "characters", w: "words", t: "tokens" };

  const lists = () => data("report-data").lists;

  const topicOf = (number) => complete.get(number) ?? lists().topics[number];

  /** Results of a run as [{rank, article, before, doc, start, length}], in rank order. */
  const resultsOf = (topic, run) => {
    const key = `${topic}/${run}`;
    if (expanded.has(key)) return expanded.get(key);
    const [, top, rest = []] = topicOf(topic).runs[run];
    const [list, seen] = [[], new Set()];
    let before = 0;
    for (let i = 0; i < top.length; i += 3) {
      const [doc, start, length] = top.slice(i, i + 3);
      seen.add(doc);
      list.push({ rank: i / 3 + 1, article: [...seen].indexOf(doc) + 1, before, doc, start, length });
      before += length;
    }
    for (let i = 0; i < rest.length; i += 6) {
      const [rank, article, paid, doc, start, length] = rest.slice(i, i + 6);
      list.push({ rank, article, before: paid, doc, start, length });
    }
    expanded.set(key, list);
    return list;
  };

  /** The cut-off of the moment as [amount, unit]; null for all. It is the measure's unless the reader moves it. */
  const cut = () => {
    if (!state.cut) return choices().cuts[state.measure];
    if (state.cut === "all") return null;
    const unit = UNITS[state.cut.at(-1)];
    const amount = Math.floor(Number(state.cut.slice(0, -1)));
    const known = !isCounted(unit) || budgetsOf(unit).includes(amount);
    return unit && amount > 0 && known ? [amount, unit] : choices().cuts[state.measure];
  };

  /** Whether a unit is one that only the engine counts: the page knows the report's own budgets of it. */
  const isCounted = (unit) => unit === "words" || unit === "tokens";

  /** The budgets of words or tokens that this report knows. */
  const budgetsOf = (unit) => {
    const names = new Set((lists().budgets ?? []).flatMap((one) => Object.keys(one)));
    return [...names].map((name) => name.split(" ")).filter(([, own]) => own === unit).map(([amount]) => Number(amount)).sort((x, y) => x - y);
  };

  /** A cut-off as one that the page can follow: a budget of words or tokens is one of the characters that it pays for. */
  const followable = (topic, run, at) => {
    if (!at || !isCounted(at[1])) return at;
    return [lists().budgets[run]?.[at.join(" ")]?.[topic] ?? 0, "characters"];
  };

  /** A cut-off in words. */
  const cutWords = (at, all = "the whole list") => {
    if (!at) return all;
    return at[0] === 1 ? `the first ${at[1].slice(0, -1)}` : `the first ${focuseval.count(at[0])} ${at[1]}`;
  };

  /** Whether a result is read at all, and up to which character. */
  const readTo = (result, [amount, unit] = [Infinity, "results"]) => {
    if (unit === "results") return result.rank <= amount ? result.start + result.length : null;
    if (unit === "articles") return result.article <= amount ? result.start + result.length : null;
    return result.before < amount ? Math.min(result.start + result.length, result.start + amount - result.before) : null;
  };

  /** The results within a cut-off, each with `end`, where reading it ends. */
  const within = (topic, run, at = cut()) => {
    const shown = [];
    const limit = followable(topic, run, at) ?? undefined;
    for (const result of run < 0 ? [] : resultsOf(topic, run)) {
      const end = readTo(result, limit);
      if (end !== null) shown.push({ ...result, end });
    }
    return shown;
  };

  /** Whether every result within the cut-off is in this page; further down only those in relevant documents are. */
  const isComplete = (topic, run, at = cut()) => {
    const [number, top] = topicOf(topic).runs[run];
    const listed = top.length / 3;
    if (number <= listed) return true;
    const [amount, unit] = followable(topic, run, at) ?? [Infinity, "results"];
    if (unit === "results") return amount <= listed;
    const last = resultsOf(topic, run)[listed - 1];
    return unit === "articles" ? amount < last.article : amount <= last.before + last.length;
  };

  /** Whether every result in a relevant document within a cut-off is in this page: of very long lists only the first are. */
  const knowsRelevant = (topic, run, amount, unit) => {
    const until = topicOf(topic).runs[run][3];
    if (until === undefined) return true;
    const last = resultsOf(topic, run).at(-1);
    return amount <= { results: until, articles: last.article - 1, characters: last.before + last.length }[unit];
  };

  /** Spans of every document, united: Map of document → [start, end, start, end …]. */
  const united = (pieces) => {
    const by = new Map();
    for (const [doc, start, end] of pieces) {
      if (end > start && start >= 0) by.set(doc, [...(by.get(doc) ?? []), [start, end]]);
    }
    for (const [doc, spans] of by) {
      spans.sort((x, y) => x[0] - y[0]);
      const flat = [];
      for (const [start, end] of spans) {
        if (flat.length && start <= flat.at(-1)) flat[flat.length - 1] = Math.max(flat.at(-1), end);
        else flat.push(start, end);
      }
      by.set(doc, flat);
    }
    return by;
  };

  const total = (flat) => flat.reduce((sum, position, i) => sum + (i % 2 ? position : -position), 0);

  /** Characters that two lists of spans share. */
  const shared = (one, other) => {
    let [i, j, sum] = [0, 0, 0];
    while (i < one.length && j < other.length) {
      sum += Math.max(0, Math.min(one[i + 1], other[j + 1]) - Math.max(one[i], other[j]));
      if (one[i + 1] < other[j + 1]) i += 2;
      else j += 2;
    }
    return sum;
  };

  const goldOf = (topic) => {
    const { gold } = topicOf(topic);
    const pieces = [];
    for (let i = 0; i < gold.length; i += 3) pieces.push(gold.slice(i, i + 3));
    return united(pieces);
  };

  /** What is read of a run's list up to a cut-off: Map of document → spans. */
  const readOf = (topic, run, at) => united(within(topic, run, at).map(({ doc, start, end }) => [doc, start, end]));

  /** Characters read of a run's list up to a cut-off, highlighted ones among them, and all highlighted ones. */
  const sizesOf = (topic, run, at) => {
    const gold = goldOf(topic);
    const read = readOf(topic, run, at);
    let [size, found, whole] = [0, 0, 0];
    for (const [doc, flat] of read) {
      size += total(flat);
      found += shared(flat, gold.get(doc) ?? []);
    }
    for (const flat of gold.values()) whole += total(flat);
    return { size, found, whole };
  };

  const share = (part, all) => (all ? part / all : 0);

  /** What is read, and the measures of sets of spans that follow; of a whole list that is not embedded the engine's totals. */
  const numbers = (topic, run, at = cut()) => {
    const seen = sizesOf(topic, run, at);
    const totals = isComplete(topic, run, at) || at ? null : lists().totals?.[run];
    const [size, found] = totals ? totals.map((of) => of[topic]) : [seen.size, seen.found];
    const { whole } = seen;
    const [precision, recall] = [share(found, size), share(found, whole)];
    const complete = Boolean(totals) || isComplete(topic, run, at);
    const known = (value) => (complete ? value : null);
    const [amount, unit] = followable(topic, run, at) ?? [Infinity, "results"];
    const all = complete || knowsRelevant(topic, run, amount, unit);
    const results = totals || unit === "results" ? Math.min(amount, topicOf(topic).runs[run][0]) : complete ? within(topic, run, at).length : null;
    return {
      results, size: known(size), found: all ? found : null, whole, recall: all ? recall : null, precision: known(precision),
      f: known(share(2 * precision * recall, precision + recall)), iou: known(share(found, size + whole - found)),
    };
  };

  /** The documents of a topic for two runs: relevant ones first, then by the best rank. */
  const documentsOf = (topic, runs) => {
    const gold = goldOf(topic);
    const best = new Map();
    for (const run of runs.filter((one) => one >= 0)) {
      for (const { doc, rank } of resultsOf(topic, run)) best.set(doc, Math.min(rank, best.get(doc) ?? Infinity));
    }
    const judged = new Set(topicOf(topic).no);
    const docs = [...new Set([...gold.keys(), ...topicOf(topic).bep.filter((_, i) => i % 2 === 0), ...best.keys()])];
    const relevant = (doc) => gold.has(doc) || topicOf(topic).bep.some((one, i) => i % 2 === 0 && one === doc);
    return docs
      .map((doc) => ({ doc, rank: best.get(doc) ?? null, judged: relevant(doc) ? 2 : judged.has(doc) ? 1 : 0 }))
      .sort((x, y) => (y.judged === 2) - (x.judged === 2) || (x.rank ?? Infinity) - (y.rank ?? Infinity) || x.doc - y.doc);
  };

  const entryOf = (topic, doc) => {
    const { bep } = topicOf(topic);
    for (let i = 0; i < bep.length; i += 2) if (bep[i] === doc) return bep[i + 1];
    return -1;
  };

  /** Take a topic that a server sent: its documents get the numbers of this page. */
  const take = (topic, answer) => {
    const { documents } = lists();
    const number = answer.documents.map((id) => {
      const known = documents.indexOf(id);
      return known >= 0 ? known : documents.push(id) - 1;
    });
    const renumber = (flat, offset, step) => flat.map((value, i) => (i % step === offset ? number[value] : value));
    const { answers, bep, gold, no, paths, runs } = answer.topic;
    complete.set(topic, {
      answers, paths,
      gold: renumber(gold, 0, 3), bep: renumber(bep, 0, 2), no: renumber(no, 0, 1),
      runs: runs.map(([size, top, rest, ...last]) => [size, renumber(top, 0, 3), ...(rest ? [renumber(rest, 3, 6)] : []), ...last]),
    });
    for (const key of [...expanded.keys()]) if (key.startsWith(`${topic}/`)) expanded.delete(key);
  };

  /** The path of an element that a run returned, as the run names it; nothing where it names none. */
  const pathIn = (topic, run, rank) => {
    const found = topicOf(topic).paths?.[run]?.[rank - 1] ?? "";
    return typeof found === "number" ? lists().paths[found] ?? "" : found;
  };

  focuseval.results = { UNITS, budgetsOf, complete, cut, isCounted, pathIn, cutWords, documentsOf, entryOf, goldOf, isComplete, lists, numbers, readOf, resultsOf, shared, take, topicOf, within };
})();
