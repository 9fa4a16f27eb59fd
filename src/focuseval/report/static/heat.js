// One document of one topic, with what A and B returned of it up to the cut-off. Texts come from the file or a server.
"use strict";
(() => {
  const { byId, count, data, describe, fragments, node, percent, sizes, visible } = focuseval;
  const { choices, state } = focuseval.choice;
  const { complete, cut, cutWords, documentsOf, entryOf, goldOf, lists, numbers, readOf, resultsOf, take, within } = focuseval.results;
  const { valuesOf } = focuseval.scores;
  const open = { documents: [], place: 0, elements: false, marks: [], mark: -1, turn: 0 };
  const fetched = new Map();

  const ask = async (path, query) => {
    const answer = await fetch(`${path}?${new URLSearchParams(query)}`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}; is it still running?`);
    return answer.json();
  };

  /** A compressed text in base64, as it was. */
  const inflated = async (text) => {
    if (!globalThis.DecompressionStream) throw new Error("this browser cannot open compressed texts; one of 2023 or later can");
    const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };

  const blocks = new Map();
  const MOST_OPENED = 120; // about 12 million characters

  /** A block of texts, opened once. */
  const blockOf = (number) => {
    if (!blocks.has(number)) blocks.set(number, inflated(byId(`texts-${number}`).textContent).then(JSON.parse));
    return blocks.get(number);
  };

  const idle = () => new Promise((go) => (globalThis.requestIdleCallback ?? setTimeout)(go));

  /** Open the blocks while the reader looks at the page, so that the first change answers as quickly as later ones. */
  focuseval.openBlocks = async () => {
    for (let number = 0; number < MOST_OPENED && byId(`texts-${number}`); number += 1) {
      await idle();
      await blockOf(number);
    }
  };

  /** What is embedded of a document: null where nothing is. A served report asks for it. */
  focuseval.embedded = async (doc) => {
    const id = lists().documents[doc];
    const place = Object.hasOwn(data("report-data").texts, id) ? data("report-data").texts[id] : null;
    if (place) return (await blockOf(place[0]))[place[1]];
    if (!lists().served) return null;
    if (!fetched.has(id)) fetched.set(id, ask("document", { doc: id }).catch(() => null));
    return fetched.get(id);
  };

  const ready = async (topic) => {
    if (lists().served && !complete.has(topic)) take(topic, await ask("lists", { topic: choices().topics[topic] }));
  };

  const legend = (by) => {
    byId("heat-legend").replaceChildren();
    for (const kind of focuseval.KINDS) {
      if (state.b < 0 && kind.bits & 4) continue;
      if (!lists().highlighted && kind.bits & 1) continue;
      const name = focuseval.nameOf(kind, state.b >= 0, lists().highlighted);
      byId("heat-legend").append(node("li", { class: by[kind.bits] ? null : "none" }, node("span", { class: kind.css }, name), " ", node("b", {}, count(by[kind.bits]))));
    }
  };

  const score = (value) => (value === null || value === undefined || Number.isNaN(value) ? "–" : focuseval.four(value));

  /** What A and B score and read in the whole topic, up to the cut-off. */
  const showNumbers = () => {
    const measure = visible(choices().measures[state.measure]);
    const at = cut();
    const head = ["run", measure, "results read", "characters", "highlighted", "spanP", "spanR", "spanF", "IoU"];
    const read = [["A", state.a], ["B", state.b]].filter(([, run]) => run >= 0).map(([sign, run]) => [sign, run, numbers(state.topic, run, at)]);
    const partly = read.some(([, , own]) => own.size === null) ? `; “–”: below rank ${lists().depth} only results in relevant documents are embedded` : "";
    const lines = read.map(([sign, run, own]) => {
      const cells = [score(valuesOf(run)[state.topic]), own.results === null ? "–" : count(own.results), own.size === null ? "–" : count(own.size), own.found === null ? "–" : count(own.found), score(own.precision), score(own.recall), score(own.f), score(own.iou)];
      const name = node("th", { scope: "row" }, node("span", { class: `role ${sign.toLowerCase()}` }, sign), " ", node("bdi", {}, visible(choices().runs[run])));
      return node("tr", {}, name, ...cells.map((value) => node("td", { class: "number" }, value)));
    });
    byId("heat-why").replaceChildren(...focuseval.whyZero(state.topic).map(([side, text]) => node("li", {}, node("span", { class: `role ${side.toLowerCase()}` }, side), ` ${score(0)} under ${measure}: ${text}`)));
    byId("heat-caption").textContent = `This topic: the score under ${measure}, and what is read of ${cutWords(at)}${partly}.`;
    byId("heat-numbers").replaceChildren(
      node("thead", {}, node("tr", {}, ...head.map((text, i) => node("th", { scope: "col", class: i ? "number" : null }, text)))),
      node("tbody", {}, ...lines),
    );
  };

  const pinsOf = (view, doc, bep) => {
    const pins = [];
    const at = (position) => focuseval.projected(view, position, position + 1);
    if (bep >= 0 && at(bep)[1]) pins.push({ at: at(bep)[0], kind: "gold", sign: "⚑ best entry", title: `best entry point, character ${count(bep)}` });
    for (const [sign, run] of [["A", state.a], ["B", state.b]]) {
      const read = within(state.topic, run).filter((one) => one.doc === doc && one.start >= 0);
      const chosen = run < 0 || !state.at.startsWith(sign) ? [] : resultsOf(state.topic, run).filter((one) => `${sign}${one.rank}` === state.at && one.doc === doc && one.start >= 0);
      [...read, ...chosen.filter((one) => read.every((other) => other.rank !== one.rank))].forEach((result, i) => {
        if (!at(result.start)[1]) return;
        const words = i === 0 ? `${sign} enters here: its first result, rank ${count(result.rank)}` : `${sign}’s result at rank ${count(result.rank)}`;
        pins.push({ at: at(result.start)[0], kind: sign.toLowerCase(), result: `${sign}${result.rank}`, sign: `${sign}${result.rank}${i === 0 ? " ▾" : ""}`, title: `${words}, character ${count(result.start)}` });
      });
    }
    return pins;
  };

  const titleLine = (article, view) => {
    const { titles, topics } = choices();
    const judged = [", not judged", ", judged not relevant", ""][article.judged];
    const id = visible(lists().documents[article.doc]);
    byId("heat-title-line").replaceChildren(
      node("bdi", {}, visible(view?.title || id)), " ",
      node("span", { class: "note" }, node("bdi", {}, id), ", topic ", node("bdi", {}, visible(topics[state.topic])), titles[state.topic] ? ": " : "", node("bdi", {}, visible(titles[state.topic])), view ? ` · ${describe(view)}` : "", judged),
    );
  };

  const spansOf = (run, doc) => readOf(state.topic, run, cut()).get(doc) ?? [];

  const noText = (pane, doc) => {
    const known = lists().highlighted || lists().depth ? "Its text is not embedded in this file; 'focuseval report --serve' shows it, and --text-limit embeds more." : "";
    pane.replaceChildren(node("p", { class: "note" }, `${visible(lists().documents[doc])}: ${known}`));
    byId("minimap").hidden = true;
  };

  /** Draw the document of the moment. */
  const show = async ({ jump = true } = {}) => {
    delete document.documentElement.dataset.heat;
    const article = open.documents[open.place];
    if (!article) return;
    const gold = goldOf(state.topic).get(article.doc) ?? [];
    const [a, b] = [state.a, state.b].map((run) => spansOf(run, article.doc));
    const turn = (open.turn += 1);
    const view = await focuseval.embedded(article.doc);
    if (turn !== open.turn) return; // the reader has chosen something else meanwhile
    titleLine(article, view);
    legend(sizes(fragments(Infinity, gold, a, b).filter((one) => one[1] < Infinity)));
    const pane = byId("heat-text");
    if (!view) noText(pane, article.doc);
    else {
      const pieces = fragments(focuseval.shownLength(view), ...[gold, a, b].map((flat) => focuseval.projectedAll(view, flat)));
      const name = (kind) => focuseval.nameOf(kind, state.b >= 0, lists().highlighted);
      const pins = pinsOf(view, article.doc, entryOf(state.topic, article.doc));
      if (!(await focuseval.showText(pane, view, pieces, { pins, elements: open.elements, name }))) return;
      focuseval.minimap.show(pieces, focuseval.shownLength(view));
    }
    byId("show-elements").hidden = !(view?.elements.length > 4); // more than the document itself
    open.marks = [...pane.querySelectorAll("mark[data-first]")];
    open.mark = -1;
    const first = (state.at && pane.querySelector(`.pin[data-at="${CSS.escape(state.at)}"]`)) || (pane.querySelector("mark.g") ?? open.marks[0]);
    if (view) focuseval.showPages(pane, view, fragments(Infinity, gold, a, b).filter((one) => one[1] < Infinity), (kind) => focuseval.nameOf(kind, state.b >= 0, lists().highlighted));
    if (jump) pane.scrollTop = 0;
    if (jump && first && !byId("minimap").hidden) focuseval.bring(pane, first);
    await focuseval.lists.shown;
    if (turn === open.turn) document.documentElement.dataset.heat = `${state.topic}/${open.place}`;
  };

  /** Open a topic: its documents, the one that is asked for first; returns whether that one is there. */
  const openTopic = async () => {
    await ready(state.topic);
    open.documents = documentsOf(state.topic, [state.a, state.b]);
    const place = state.doc ? open.documents.findIndex((one) => lists().documents[one.doc] === state.doc) : 0;
    open.place = Math.max(0, place);
    return place >= 0;
  };

  focuseval.heat = { open, openTopic, show, showNumbers };
})();
