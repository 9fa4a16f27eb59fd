// The heat map: one article of one topic, with what A and B did in it. Articles come from the file or from a server.
"use strict";
(() => {
  const { byId, count, data, describe, fragments, node, percent, sizes, visible } = focuseval;
  const state = { topic: 0, article: 0, a: 0, b: -1, elements: false, lists: new Map(), marks: [], mark: -1 };
  const heat = () => data("report-data").heat;

  const ask = async (path, query) => {
    const answer = await fetch(`${path}?${new URLSearchParams(query)}`);
    if (!answer.ok) throw new Error(`the server answered ${answer.status}; is it still running?`);
    return answer.json();
  };

  /** The articles of a topic, most explanatory first. */
  const articlesOf = async (number) => {
    const topic = heat().topics[number];
    if (!heat().served) return topic.articles;
    if (!state.lists.has(number)) state.lists.set(number, await ask("articles", { topic: topic.topic }));
    return state.lists.get(number);
  };

  const textOf = async (name) => {
    const number = data("report-data").documents[name];
    return number === undefined ? ask("document", { doc: name }) : data(`text-${number}`);
  };

  const legend = (by) => {
    const list = byId("heat-legend");
    list.replaceChildren();
    for (const kind of focuseval.KINDS) {
      if (state.b < 0 && kind.bits & 4) continue;
      if (!heat().highlighted && kind.bits & 1) continue;
      const name = focuseval.nameOf(kind, state.b >= 0, heat().highlighted);
      list.append(node("li", { class: by[kind.bits] ? null : "none" }, node("span", { class: kind.css }, name), " ", node("b", {}, count(by[kind.bits]))));
    }
  };

  /** What a run did in the article: rank, characters, precision, recall, distance of its entry point. */
  const numbers = (article, view, by, gold) => {
    const table = byId("heat-numbers");
    const head = ["", "run", "article rank", "results", "returned", "of it highlighted", "of highlighted found", "entry point", "from best"];
    table.replaceChildren(node("thead", {}, node("tr", {}, ...head.map((name, i) => node("th", { scope: "col", class: i > 1 ? "number" : null }, name)))));
    const body = node("tbody");
    for (const [sign, run, bit] of [["A", state.a, 2], ["B", state.b, 4]]) {
      if (run < 0) continue;
      const own = article.runs[run];
      const returned = by.reduce((sum, size, bits) => sum + (bits & bit ? size : 0), 0);
      const found = by.reduce((sum, size, bits) => sum + (bits & bit && bits & 1 ? size : 0), 0);
      const far = own && own.entry >= 0 && article.bep >= 0 ? count(Math.abs(own.entry - article.bep)) : "–";
      const cells = own
        ? [count(own.rank), own.begins.length < own.results * 2 ? `${count(own.results)} (first ${own.begins.length / 2} marked)` : count(own.results), count(returned), percent(found, returned), percent(found, gold), own.entry < 0 ? "–" : count(own.entry), far]
        : ["not returned", "0", "0", "–", percent(0, gold), "–", "–"];
      const name = node("td", {}, node("bdi", {}, visible(heat().runs[run])));
      body.append(node("tr", {}, node("th", { scope: "row" }, node("span", { class: `role ${sign.toLowerCase()}` }, sign)), name, ...cells.map((value) => node("td", { class: "number" }, value))));
    }
    table.append(body);
  };

  const pinsOf = (article) => {
    const pins = [];
    if (article.bep >= 0) pins.push({ at: article.bep, kind: "gold", sign: "⚑ best entry", title: `best entry point, character ${count(article.bep)}` });
    for (const [sign, run] of [["A", state.a], ["B", state.b]]) {
      const own = run < 0 ? undefined : article.runs[run];
      for (let i = 0; i < (own?.begins.length ?? 0); i += 2) {
        const [at, rank] = own.begins.slice(i, i + 2);
        const first = i === 0 && own.entry >= 0;
        const words = first ? `${sign} enters here: its first result, rank ${count(rank)}` : `${sign}’s result at rank ${count(rank)}`;
        pins.push({ at, kind: sign.toLowerCase(), sign: `${sign}${rank}${first ? " ▾" : ""}`, title: `${words}, character ${count(at)}` });
      }
    }
    return pins;
  };

  const titleLine = (article, view) => {
    const topic = heat().topics[state.topic];
    const judged = [", not judged", ", judged not relevant", ""][article.judged];
    byId("heat-title-line").replaceChildren(
      node("bdi", {}, visible(view.title || article.doc)), " ",
      node("span", { class: "note" }, node("bdi", {}, visible(article.doc)), `, topic `, node("bdi", {}, visible(topic.topic)), topic.title ? ": " : "", node("bdi", {}, visible(topic.title)), ` · ${describe(view)}${judged}`),
    );
  };

  /** Draw the article of the moment. */
  const show = async ({ jump = true } = {}) => {
    delete document.documentElement.dataset.heat;
    const list = await articlesOf(state.topic);
    const article = list[state.article];
    if (!article) return;
    const view = await textOf(article.doc);
    const of = (run) => (run < 0 ? [] : article.runs[run]?.spans ?? []);
    const pieces = fragments(view.length, article.gold, of(state.a), of(state.b));
    const by = sizes(pieces);
    titleLine(article, view);
    legend(by);
    numbers(article, view, by, by[1] + by[3] + by[5] + by[7]);
    const pane = byId("heat-text");
    const name = (kind) => focuseval.nameOf(kind, state.b >= 0, heat().highlighted);
    if (!(await focuseval.showText(pane, view, pieces, { pins: pinsOf(article), elements: state.elements, name }))) return;
    state.marks = [...pane.querySelectorAll("mark[data-first]")];
    state.mark = -1;
    focuseval.minimap.show(pieces, view.length);
    const first = pane.querySelector("mark.g") ?? state.marks[0];
    if (jump) pane.scrollTop = 0;
    if (jump && first && !byId("minimap").hidden) focuseval.bring(pane, first);
    document.documentElement.dataset.heat = `${state.topic}/${state.article}`;
  };

  focuseval.heat = { articlesOf, heat, show, state };
})();
