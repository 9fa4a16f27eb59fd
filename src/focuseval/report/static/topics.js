// Every topic of the chosen pair: sorted by any column, filtered by words, tag, sign and size; and the slices.
"use strict";
(() => {
  const { byId, count, node, option, pause, visible } = focuseval;
  const FIRST = 40;
  const { address, change, choices, listen, state, topicAddresses } = focuseval.choice;
  const { mean, pairPlace, topicRows } = focuseval.scores;
  const PARTS = 1e4; // of intervals, which come as whole numbers

  /** A topic's name as a link into lists and text, with what it asks. */
  focuseval.topicLink = (topic, addressOf = topicAddresses()) => {
    const { titles, topics } = choices();
    const link = node("a", { href: addressOf(topic) }, node("bdi", {}, visible(topics[topic])));
    return titles[topic] ? [link, " ", node("span", { class: "title", dir: "auto" }, visible(titles[topic]))] : [link];
  };

  const SIGNS = { a: (row) => row.difference > 0, b: (row) => row.difference < 0, equal: (row) => !row.difference, unequal: (row) => row.difference };

  const wanted = () => {
    const words = state.query.trim().toLowerCase();
    const least = Number(state.least) || 0;
    const { tags, titles, topics } = choices();
    return (row) =>
      (!words || topics[row.topic].toLowerCase().includes(words) || titles[row.topic].toLowerCase().includes(words)) &&
      (!state.tag || tags[row.topic].includes(state.tag)) &&
      (!SIGNS[state.sign] || SIGNS[state.sign](row)) &&
      (!least || Math.abs(row.difference) >= least);
  };

  const KEYS = { topic: (row) => row.topic, tags: (row) => choices().tags[row.topic].join(", "), a: (row) => row.a, b: (row) => row.b, difference: (row) => row.difference };

  const sorted = (rows) => {
    const [name, down] = state.sort.startsWith("-") ? [state.sort.slice(1), -1] : [state.sort, 1];
    const key = KEYS[name] ?? KEYS.difference;
    const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);
    return [...rows].sort((x, y) => down * compare(key(x), key(y)) || x.topic - y.topic);
  };

  const showHeads = () => {
    for (const button of byId("topic-table").querySelectorAll("button[data-sort]")) {
      const [name, down] = state.sort.startsWith("-") ? [state.sort.slice(1), true] : [state.sort, false];
      const here = button.dataset.sort === name;
      const head = button.closest("th");
      if (here) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      button.querySelector(".order").textContent = here ? (down ? " ▾" : " ▴") : "";
    }
  };

  const four = (value) => (value === null ? "–" : focuseval.four(value));

  /** Fill the table: what is in view at once, the rest when the page has answered. */
  const fill = async (rows, line) => {
    const body = byId("topic-table").querySelector("tbody");
    const [turn, addressOf] = [(body.focusevalTurn = (body.focusevalTurn ?? 0) + 1), topicAddresses()];
    body.replaceChildren(...rows.slice(0, FIRST).map((row) => line(row, addressOf)));
    for (let done = FIRST; done < rows.length; done += 4 * FIRST) {
      await pause();
      if (body.focusevalTurn !== turn) return;
      body.append(...rows.slice(done, done + 4 * FIRST).map((row) => line(row, addressOf)));
    }
  };

  const show = () => {
    const all = topicRows();
    const rows = sorted(all.filter(wanted()));
    const tagged = choices().tags.some((tags) => tags.length);
    const tags = (row) => (tagged ? [node("td", {}, visible(choices().tags[row.topic].join(", ")))] : []);
    const none = node("tr", {}, node("td", { colspan: 5 }, "No topic fits these filters. ", node("button", { type: "button", id: "filter-clear" }, "Clear them")));
    if (!rows.length && all.length) byId("topic-table").querySelector("tbody").replaceChildren(none);
    else fill(rows, (row, addressOf) => focuseval.topicLine(row, tags(row), addressOf));
    showHeads();
    const [a, b] = [mean(rows.map((row) => row.a)), state.b < 0 ? null : mean(rows.map((row) => row.b))];
    const means = state.b < 0 ? `mean ${four(a)}` : `mean A ${four(a)}, B ${four(b)}, A − B ${a === null ? "–" : focuseval.signed(a - b)}`;
    byId("topic-count").textContent = `${count(rows.length)} of ${count(all.length)} topics, ${means}`;
  };

  const settle = () => {
    for (const [id, key] of [["filter-text", "query"], ["filter-tag", "tag"], ["filter-sign", "sign"], ["filter-least", "least"]]) {
      if (byId(id) && byId(id).value !== state[key]) byId(id).value = state[key];
    }
  };

  /** How a slice was judged for the chosen pair; undefined where it was not, null where its topics are too few. */
  const judgedOf = (slice) => {
    const { a, b, runs } = choices();
    const flat = slice.judged[state.measure];
    if (flat === null) return null;
    const all = flat.length === 2 * runs.length * (runs.length - 1);
    if (!all && ![state.a, state.b].every((run) => run === a || run === b)) return undefined;
    const [low, high, p, lead] = all ? flat.slice(4 * pairPlace(state.a, state.b)) : flat;
    const forwards = all ? state.a < state.b : state.a === a;
    return { ends: (forwards ? [low, high] : [-high, -low]).map((end) => focuseval.signed(end / PARTS)), p: typeof p === "number" ? four(p / PARTS) : p, lead: forwards ? lead : -lead };
  };

  const WORDS = { 1: "better", "-1": "worse", 0: "cannot tell" };

  const sliceLine = (slice, rows) => {
    const here = new Set(slice.topics);
    const own = rows.filter((row) => here.has(row.topic));
    const [a, b] = [mean(own.map((row) => row.a)), state.b < 0 ? null : mean(own.map((row) => row.b))];
    const name = slice.group === "Tag" ? node("a", { href: address({ tag: slice.name }) }, `Tag: ${visible(slice.name)}`) : `${visible(slice.group)}: ${visible(slice.name)}`;
    const number = (text) => node("td", { class: "number" }, text);
    const cells = [number(count(own.length)), number(four(a))];
    if (state.b >= 0) {
      const found = judgedOf(slice);
      const said = found ? [`[${found.ends.join(", ")}]`, found.p, WORDS[found.lead]] : ["–", "–", found === null ? `fewer than ${choices().fewest} topics` : "–"];
      cells.push(number(four(b)), number(own.length ? focuseval.signed(a - b) : "–"), ...said.slice(0, 2).map(number), node("td", {}, said[2]));
    }
    return node("tr", {}, node("th", { scope: "row" }, name), ...cells);
  };

  const showSlices = () => {
    const body = byId("slices")?.querySelector("tbody");
    if (!body) return;
    const rows = topicRows();
    body.replaceChildren(...choices().slices.map((slice) => sliceLine(slice, rows)));
    focuseval.sorted(byId("slices"));
    const without = state.b >= 0 && choices().slices.some((slice) => judgedOf(slice) === undefined);
    byId("slices-note").textContent = without ? visible(choices().slices_note) : "";
  };

  focuseval.startTopics = () => {
    for (const [id, key] of [["filter-text", "query"], ["filter-tag", "tag"], ["filter-sign", "sign"], ["filter-least", "least"]]) {
      byId(id)?.addEventListener("input", (event) => change({ [key]: event.target.value }));
    }
    const tags = [...new Set(choices().tags.flat())].sort();
    byId("filter-tag")?.append(...tags.map((tag) => option(tag, tag)));
    if (byId("filter-tag")) byId("filter-tag").closest("label").hidden = !tags.length;
    byId("topic-table").addEventListener("click", (event) => {
      if (event.target.id === "filter-clear") change({ query: "", tag: "", sign: "", least: "" });
      const name = event.target.closest("button[data-sort]")?.dataset.sort;
      if (name) change({ sort: state.sort === name ? `-${name}` : name });
    });
    const all = ["a", "b", "measure"];
    listen((changed) => {
      settle();
      if ([...all, "query", "tag", "sign", "least", "sort"].some((key) => changed.has(key))) show();
      if (all.some((key) => changed.has(key))) showSlices();
    });
    settle();
    show();
    const every = document.querySelector("#all-measures table");
    if (every) every.dataset.order = "all";
    for (const table of document.querySelectorAll("table[data-order]")) focuseval.sortable(table);
    showSlices();
  };
})();
