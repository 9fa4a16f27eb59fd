// The verdict of the chosen pair under the chosen measure, and the pickers that choose them.
"use strict";
(() => {
  const { byId, count, node, option, visible } = focuseval;
  const { change, choices, defaults, listen, state } = focuseval.choice;
  const { carried, carrying, counts, meanOf, pair, reversed, topicRows } = focuseval.scores;
  const WORDS = { 1: ["better", "▲", "Better"], 0: ["cannot-tell", "?", "Cannot tell"], "-1": ["worse", "▼", "Worse"] };
  const first = {};

  focuseval.signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;
  const { signed } = focuseval;
  const name = (run) => visible(choices().runs[run]);
  const topics = (number) => (number === 1 ? "1 topic" : `${count(number)} topics`);
  const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

  const headline = (found) => {
    const [a, b] = [name(state.a), name(state.b)];
    if (!found) return `${a} against ${b}: not tested.`;
    return { 1: `${a} is better than ${b}.`, 0: `Cannot tell ${a} and ${b} apart.`, "-1": `${a} is worse than ${b}.` }[found.code];
  };

  const power = (found) => {
    if (found.detectable === null) return "One topic says nothing about others.";
    const rest = found.needed === null ? "no number of topics would show the observed one" : `the observed one needs ${topics(found.needed)}`;
    return `With probability .8 these topics would have shown a difference of ${found.detectable.toFixed(4)}; ${rest}.`;
  };

  const reason = (found) => {
    const measure = visible(choices().measures[state.measure]);
    const [a, b] = [meanOf(state.a), meanOf(state.b)];
    const rows = topicRows();
    const means = `${measure} ${a?.toFixed(4) ?? "–"} against ${b?.toFixed(4) ?? "–"} over ${topics(rows.length)}`;
    if (!found) return `${means}: ${a === null || b === null ? "no difference" : signed(a - b)}. This pair was not tested under ${measure} in this report; 'focuseval compare -m ${measure}' does it.`;
    const corrected = found.corrected === found.p ? "" : ` (corrected ${found.corrected})`;
    const p = found.p.startsWith("<") ? `p < ${found.p.slice(1)}` : `p = ${found.p}`;
    const why = found.reason ? `; ${found.reason}` : "";
    const test = choices().methods[state.measure];
    return `${means} (${count(found.ties)} tied): ${signed(found.difference)} [${signed(found.interval[0])}, ${signed(found.interval[1])}], ${p}${corrected}${why}. ${power(found)} Test: ${test}; the interval is uncorrected.`;
  };

  const caveat = () => {
    const names = reversed().map(visible);
    if (!names.length) return "";
    const rest = `${count(names.length - 3)} more of the ${count(choices().measures.length - 1)} other measures`;
    return `Under ${listed(names.length <= 4 ? names : [...names.slice(0, 3), rest])} the order is the other way round.`;
  };

  /** Whether the page shows what it was made for. */
  const usual = () => {
    const wanted = defaults();
    return state.a === wanted.a && state.b === wanted.b && state.measure === wanted.measure;
  };

  const showVerdict = () => {
    const [block, found] = [byId("verdict-block"), pair()];
    const [css, sign, word] = found ? WORDS[found.code] : WORDS[0];
    const custom = !usual() && state.b >= 0;
    block.className = custom ? `verdict ${css}` : first.css;
    byId("verdict-word").textContent = custom ? `${sign} ${found ? word : "Not tested"}` : first.word;
    byId("verdict").textContent = custom ? headline(found) : first.headline;
    byId("verdict-reason").textContent = custom ? reason(found) : first.reason;
    byId("verdict-caveat").textContent = custom ? caveat() : first.caveat;
    byId("verdict-back").hidden = !custom;
  };


  const difference = (row) => {
    const css = row.difference > 0 ? "up" : "down";
    const sign = row.difference ? node("span", { class: css }, row.difference > 0 ? "▲ " : "▼ ") : "";
    return [sign, signed(row.difference)];
  };

  /** A row of a table of topics. */
  focuseval.topicLine = (row, extra = [], addressOf = undefined) => {
    const cells = [node("td", { class: "number" }, row.a.toFixed(4))];
    if (row.b !== null) cells.push(node("td", { class: "number" }, row.b.toFixed(4)), node("td", { class: "number" }, ...difference(row)));
    return node("tr", {}, node("th", { scope: "row" }, ...focuseval.topicLink(row.topic, addressOf)), ...extra, ...cells);
  };

  const showDeciding = () => {
    const card = byId("deciding");
    if (!card) return;
    const rows = topicRows();
    const body = state.b < 0 ? [...rows].sort((x, y) => x.a - y.a).slice(0, 6) : carrying(rows);
    card.querySelector("tbody").replaceChildren(...body.map((row) => {
      const line = focuseval.topicLine(row);
      if (row.alike > 1) line.firstChild.append(" ", node("small", {}, `and ${count(row.alike - 1)} more with this difference`));
      return line;
    }));
    const heads = card.querySelectorAll("thead th");
    if (heads.length > 3) {
      heads[1].replaceChildren("A ", node("small", {}, node("bdi", {}, name(state.a))));
      heads[2].replaceChildren("B ", node("small", {}, node("bdi", {}, state.b < 0 ? "none" : name(state.b))));
    }
    const { won, lost, tied, topics: all } = counts(rows);
    const { needed, side } = carried(rows);
    const gains = needed === 1 ? "largest gain" : `${count(needed)} largest gains`;
    const rest = needed && !Math.min(won, lost) ? "" : needed ? `Without the ${gains} of ${side} there would be no difference.` : "Gains and losses are equal.";
    byId("carried").textContent = state.b < 0 ? "" : `A is better on ${count(won)}, B on ${count(lost)} and neither on ${count(tied)} of ${topics(all)}. ${rest}`.trim();
  };

  /** Mark A and B in the table of runs. */
  const showRoles = () => {
    for (const place of document.querySelectorAll("[data-run]")) {
      const run = Number(place.dataset.run);
      const role = run < 0 ? "" : run === state.a ? "A" : run === state.b ? "B" : "";
      place.replaceChildren(...(role ? [node("span", { class: `role ${role.toLowerCase()}` }, role), " "] : []));
    }
  };

  const settle = () => {
    byId("pick-a").value = String(state.a);
    byId("pick-b").value = String(state.b);
    byId("pick-measure").value = String(state.measure);
    for (const one of byId("pick-b").options) one.disabled = Number(one.value) === state.a;
    for (const one of byId("pick-a").options) one.disabled = Number(one.value) === state.b;
  };

  const show = () => {
    settle();
    showVerdict();
    showDeciding();
    showRoles();
  };

  focuseval.startHeadline = () => {
    const { measures, runs } = choices();
    Object.assign(first, { css: byId("verdict-block").className, word: byId("verdict-word").textContent, headline: byId("verdict").textContent, reason: byId("verdict-reason").textContent, caveat: byId("verdict-caveat").textContent });
    byId("pick-a").replaceChildren(...runs.map((text, i) => option(i, text)));
    byId("pick-b").replaceChildren(option(-1, "none"), ...runs.map((text, i) => option(i, text)));
    byId("pick-measure").replaceChildren(...measures.map((text, i) => option(i, i === choices().decides ? `${text} (decides)` : text)));
    byId("chooser").hidden = false;
    for (const [id, key] of [["pick-a", "a"], ["pick-b", "b"], ["pick-measure", "measure"]]) {
      byId(id).addEventListener("change", (event) => change({ [key]: Number(event.target.value) }));
    }
    byId("swap").addEventListener("click", () => state.b >= 0 && change({ a: state.b, b: state.a }));
    byId("verdict-back").addEventListener("click", () => {
      const { a, b, measure } = defaults();
      change({ a, b, measure });
    });
    listen((changed) => ["a", "b", "measure"].some((key) => changed.has(key)) && show());
    show();
  };
})();
