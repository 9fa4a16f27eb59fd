// Two ranked lists side by side: what each result is, what of it is highlighted, and where the other run has it.
"use strict";
(() => {
  const { byId, count, node, percent, visible } = focuseval;
  const { address, choices, state } = focuseval.choice;
  const { cut, cutWords, goldOf, lists, pathIn, resultsOf, shared, topicOf, within } = focuseval.results;
  const SNIPPET = 180;
  const BEFORE = 50;
  const MOST_LINES = 3; // of one result
  const turns = {};

  /** The other run's results in the same document, those that overlap first. */
  const partners = (result, others) => {
    const same = others.filter((other) => other.doc === result.doc);
    const overlap = (other) => Math.min(result.start + result.length, other.start + other.length) - Math.max(result.start, other.start);
    return same.map((other) => ({ rank: other.rank, overlaps: overlap(other) > 0 })).sort((x, y) => y.overlaps - x.overlaps || x.rank - y.rank);
  };

  /** Where a snippet begins: shortly before the first highlighted character of a result, else where the result does. */
  const snippetStart = (result, gold) => {
    const inside = gold.findIndex((position, i) => i % 2 && position > result.start && gold[i - 1] < result.start + result.length);
    const first = inside < 0 ? 0 : gold[inside - 1] - BEFORE;
    return Math.max(0, result.start, Math.min(first, result.start + result.length - SNIPPET));
  };

  /** Some of a result's text with highlighted parts marked; nothing where it is not embedded. */
  const snippet = (view, result, gold) => {
    const from = snippetStart(result, gold);
    const end = Math.min(result.length ? result.start + result.length : from + SNIPPET, from + SNIPPET, view?.length ?? 0);
    const [low, high] = view ? focuseval.projected(view, from, end) : [0, 0];
    if (high <= low) return node("p", { class: "snippet note" }, view === null ? "" : "The text of this result is not embedded.");
    const inside = focuseval.projectedAll(view, gold).map((position) => Math.min(Math.max(position, low), high) - low);
    const paragraph = node("p", { class: "snippet", dir: "auto" }, from > result.start && result.start >= 0 ? "… " : "");
    const unit = focuseval.unitsOf(view);
    for (const [start, stop, bits] of focuseval.fragments(high - low, inside, [], [])) {
      let text = view.text.slice(unit(low + start), unit(low + stop)).replace(/\s+/g, " ");
      if (!start && from > result.start && result.start >= 0) text = text.replace(/^\S{1,20} /, ""); // no halves of words
      if (stop === high - low && end < result.start + result.length) text = text.replace(/ \S{1,20}$/, "");
      const place = bits & 1 ? paragraph.appendChild(node("mark", { class: "m g", title: "highlighted" })) : paragraph;
      focuseval.appendText(place, text);
    }
    if (end < result.start + result.length) paragraph.append(" …");
    return paragraph;
  };

  /** The path or the span of a result; a path as the run gives it, else that of the element which is just this span. */
  const where = (view, result, given) => {
    if (result.start < 0) return given || "no known place";
    const path = given || (view && focuseval.pathOf(view, result.start, result.start + result.length));
    const span = result.length ? `characters ${count(result.start)}–${count(result.start + result.length)}` : `from character ${count(result.start)}`;
    return path ? `${path} (${span})` : span;
  };

  const item = (side, result, context) => {
    const { others, gold, read, view } = context;
    const own = gold.get(result.doc) ?? [];
    const found = shared([result.start, result.start + result.length], own);
    const [partner] = partners(result, others);
    const other = side === "A" ? "B" : "A";
    const moved = !context.two ? "" : partner ? `${other}: rank ${count(partner.rank)}${partner.overlaps ? "" : ", another part"}` : `not in ${other}’s list`;
    const end = read.get(result.rank);
    const cutShort = end !== undefined && end < result.start + result.length ? `, read up to character ${count(end)}` : "";
    const id = lists().documents[result.doc];
    const at = `${side}${result.rank}`;
    const link = node("a", { href: address({ topic: state.topic, doc: id, at }), "data-doc": id, "data-at": at }, node("bdi", {}, visible(id)));
    const title = view?.title && view.title !== id && !context.again ? node("span", { class: "title", dir: "auto" }, visible(view.title)) : "";
    return node(
      "li",
      { class: end === undefined ? "unread" : null, "data-rank": result.rank, "data-doc": result.doc, value: result.rank },
      node("p", { class: "result" }, node("span", { class: `role ${side.toLowerCase()}` }, `${side}${result.rank}`), " ", link, " ", title),
      node("p", { class: "note" }, `${visible(where(view, result, pathIn(state.topic, context.run, result.rank)))}${cutShort}`),
      node("p", { class: "note" }, lists().highlighted ? `${percent(found, result.length)} of it highlighted${context.two ? "; " : ""}` : "", node("span", { class: "moved" }, moved)),
      snippet(view, result, own),
    );
  };

  /** An answer sentence by sentence: what each cites, which needs that covers, and which needs nothing covers. */
  const answered = (side, run, results) => {
    const [place, answer] = [byId(`answer-${side.toLowerCase()}`), run < 0 ? null : topicOf(state.topic).answers?.[run]];
    place.hidden = !answer;
    place.replaceChildren();
    if (!answer) return false;
    const cite = (rank) => {
      if (answer.nowhere.includes(rank)) return node("span", { class: "flag" }, `[${rank}] leads nowhere`);
      const [result, at] = [results.find((one) => one.rank === rank), `${side}${rank}`];
      if (!result) return node("span", {}, `[${rank}]`);
      const doc = lists().documents[result.doc];
      return node("a", { href: address({ topic: state.topic, doc, at }), "data-doc": doc, "data-at": at, title: `open the cited text of ${doc}` }, `[${rank}]`);
    };
    const covered = (needs) => (needs.length ? node("small", {}, `covers ${needs.map(([name, share]) => `${visible(name)}${share < 100 ? ` (${share} %)` : ""}`).join(", ")}`) : "");
    const lines = answer.sentences.map(([text, ranks, needs]) => {
      const marks = ranks.length ? ranks.flatMap((rank) => [cite(rank), " "]) : [node("span", { class: "flag" }, "no citation"), " "];
      return node("li", { dir: "auto" }, visible(text), " ", ...marks, covered(needs));
    });
    place.append(node("ol", {}, ...lines));
    if (answer.abstains) place.append(node("p", { class: "note" }, "The answer abstains."));
    if (answer.open.length) place.append(node("p", { class: "flag" }, `No citation covers ${answer.open.map(visible).join(", ")}.`));
    return true;
  };

  const column = async (side, run, other) => {
    const list = byId(`list-${side.toLowerCase()}`);
    const topic = state.topic;
    const results = run < 0 ? [] : resultsOf(topic, run).filter((one) => one.rank <= lists().depth);
    const others = other < 0 ? [] : resultsOf(topic, other);
    const read = new Map(within(topic, run).map(({ rank, end }) => [rank, end]));
    const context = { others, gold: goldOf(topic), read, run, two: other >= 0 };
    const turn = (turns[side] = (turns[side] ?? 0) + 1);
    const views = await Promise.all(results.map(({ doc }) => focuseval.embedded(doc)));
    if (turns[side] !== turn) return; // the reader has chosen something else meanwhile
    const titled = new Set();
    const items = results.map((result, i) => {
      const again = titled.has(result.doc); // a title once is enough
      titled.add(result.doc);
      return item(side, result, { ...context, again, view: views[i] });
    });
    const number = run < 0 ? 0 : topicOf(topic).runs[run][0];
    list.replaceChildren(...items);
    const noun = answered(side, run, results) ? "citation" : "result";
    const head = byId(`list-${side.toLowerCase()}-title`);
    const length = number > results.length ? `first ${count(results.length)} of ${count(number)} ${noun}s` : number === 1 ? `1 ${noun}` : `${count(number)} ${noun}s`;
    head.replaceChildren(node("span", { class: `role ${side.toLowerCase()}` }, side), " ", node("bdi", {}, visible(choices().runs[run] ?? "none")), " ", node("small", {}, length));
  };

  /** Lines between results of the same document; solid where they overlap. */
  const lines = () => {
    const canvas = byId("list-lines");
    const place = canvas.getBoundingClientRect();
    canvas.replaceChildren();
    if (!place.width || state.b < 0) return;
    canvas.setAttribute("viewBox", `0 0 ${place.width} ${place.height}`);
    const height = (side, rank) => {
      const row = byId(`list-${side}`).querySelector(`[data-rank="${rank}"] .result`)?.getBoundingClientRect();
      return row && row.top + row.height / 2 - place.top;
    };
    const others = resultsOf(state.topic, state.b).filter((one) => one.rank <= lists().depth);
    const mine = resultsOf(state.topic, state.a).filter((one) => one.rank <= lists().depth);
    for (const result of mine) {
      const found = partners(result, others);
      const alone = found.length === 1 && mine.filter((one) => one.doc === result.doc).length === 1; // else lines say nothing
      for (const partner of found.filter((one) => one.overlaps || alone).slice(0, MOST_LINES)) {
        const [y1, y2] = [height("a", result.rank), height("b", partner.rank)];
        if (y1 === undefined || y2 === undefined) continue;
        const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
        line.setAttribute("d", `M0 ${y1} C${place.width / 2} ${y1} ${place.width / 2} ${y2} ${place.width} ${y2}`);
        line.setAttribute("class", partner.overlaps ? "overlaps" : "same");
        canvas.append(line);
      }
    }
  };

  const caption = () => {
    const at = cut();
    const measure = visible(choices().measures[state.measure]);
    byId("list-caption").textContent = `Read: ${cutWords(at)}${state.cut ? "" : `, as ${measure} does`}; fainter results are not read. Lines join results that overlap; dashed ones join other parts of the same document.`;
  };

  const draw = async () => {
    await Promise.all([column("A", state.a, state.b), column("B", state.b, state.a)]);
    byId("list-b").closest(".list").hidden = state.b < 0;
    caption();
    lines();
  };

  /** Draw both lists; `shown` is resolved when they are there. */
  const show = () => (focuseval.lists.shown = draw());

  focuseval.lists = { lines, show, shown: Promise.resolve() };
})();
