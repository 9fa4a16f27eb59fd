// Walking through the heat map: pickers, buttons, keys, and links such as #topic=401&doc=9996.
"use strict";
(() => {
  const { byId, data, node, visible } = focuseval;
  const { articlesOf, heat, show, state } = focuseval.heat;

  const option = (value, text) => node("option", { value }, visible(text));

  const fill = (id, values, chosen) => {
    byId(id).replaceChildren(...values.map(([value, text]) => option(value, text)));
    byId(id).value = String(chosen);
  };

  const label = (article, number) => `${number + 1}. ${article.doc}${[" (not judged)", " (not relevant)", ""][article.judged]}`;

  /** Bring pickers and address up to date. */
  const settle = async () => {
    const topics = heat().topics;
    byId("pick-topic").value = String(state.topic);
    const list = await articlesOf(state.topic);
    fill("pick-article", list.map((article, i) => [i, label(article, i)]), state.article);
    const query = new URLSearchParams({ topic: topics[state.topic].topic, doc: list[state.article]?.doc ?? "" });
    history.replaceState(null, "", `#${query}`);
  };

  const go = async (topic, article = 0) => {
    const topics = heat().topics.length;
    state.topic = (topic + topics) % topics;
    const list = await articlesOf(state.topic);
    state.article = Math.max(0, Math.min(article, list.length - 1));
    await settle();
    await show();
  };

  /** The next or previous article; past the last one of a topic comes the next topic. */
  const step = async (by) => {
    const list = await articlesOf(state.topic);
    const next = state.article + by;
    if (next >= 0 && next < list.length) return go(state.topic, next);
    return go(state.topic + by, by > 0 ? 0 : Infinity);
  };

  const stepMark = (by) => {
    if (!state.marks.length) return;
    state.marks[state.mark]?.classList.remove("now");
    state.mark = state.mark < 0 && by < 0 ? state.marks.length - 1 : (state.mark + by + state.marks.length) % state.marks.length;
    state.marks[state.mark].classList.add("now");
    focuseval.bring(byId("heat-text"), state.marks[state.mark]);
  };

  const toggleElements = () => {
    state.elements = !state.elements;
    byId("show-elements").setAttribute("aria-pressed", String(state.elements));
    return show({ jump: false });
  };

  const ACTIONS = {
    "next-article": ["j", () => step(1)], "previous-article": ["k", () => step(-1)],
    "next-topic": ["n", () => go(state.topic + 1)], "previous-topic": ["p", () => go(state.topic - 1)],
    "next-mark": [".", () => stepMark(1)], "previous-mark": [",", () => stepMark(-1)], "show-elements": ["e", toggleElements],
  };
  const ARROWS = { ArrowRight: "next-article", ArrowLeft: "previous-article" };

  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input, textarea")) return;
    const name = ARROWS[event.key] ?? Object.keys(ACTIONS).find((id) => ACTIONS[id][0] === event.key);
    if (!name) return;
    event.preventDefault();
    ACTIONS[name][1]();
  };

  /** Follow a link into the text; whatever it names that is not here is said where the reader looks. */
  const follow = async () => {
    const query = new URLSearchParams(location.hash.slice(1));
    if (!query.has("topic")) return false;
    byId("heat").scrollIntoView();
    const topic = heat().topics.findIndex((one) => one.topic === query.get("topic"));
    const doc = query.get("doc");
    if (topic < 0) return refuse(query.get("topic"));
    const list = await articlesOf(topic);
    const article = doc ? list.findIndex((one) => one.doc === doc) : 0;
    await go(topic, Math.max(0, article));
    byId("heat-text").focus({ preventScroll: true });
    if (doc && article < 0) byId("heat-title-line").prepend(node("span", { class: "note" }, `Document ${visible(doc)} is not in this report; this is another one of the topic. `));
    return true;
  };

  const refuse = (topic) => {
    const known = data("report-data").known.includes(topic);
    const why = known ? "has no article in this report: its texts were left out, or nothing was relevant or returned" : "is not in this report";
    byId("heat-title-line").replaceChildren(`Topic ${visible(topic)} ${why}.`);
    return true;
  };

  focuseval.startHeat = async () => {
    const desk = document.querySelector(".desk");
    if (!desk) return;
    desk.hidden = false;
    const shown = heat();
    [state.a, state.b] = [shown.a, shown.b ?? -1];
    fill("pick-topic", shown.topics.map((one, i) => [i, one.title ? `${one.topic}  ${one.title}` : one.topic]), 0);
    const runs = shown.runs.map((name, i) => [i, name]);
    fill("pick-a", runs, state.a);
    fill("pick-b", [[-1, "none"], ...runs], state.b);
    byId("pick-topic").addEventListener("change", (event) => go(Number(event.target.value)));
    byId("pick-article").addEventListener("change", (event) => go(state.topic, Number(event.target.value)));
    for (const side of ["a", "b"]) {
      byId(`pick-${side}`).addEventListener("change", (event) => {
        state[side] = Number(event.target.value);
        show({ jump: false });
      });
    }
    for (const [id, [, act]] of Object.entries(ACTIONS)) byId(id).addEventListener("click", act);
    byId("heat").addEventListener("keydown", onKey);
    addEventListener("hashchange", follow);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show({ jump: false }));
    focuseval.minimap.start();
    if (await follow()) return;
    const first = document.querySelector("#answer a[href^='#topic=']");
    const wanted = first && new URLSearchParams(first.hash.slice(1)).get("topic");
    state.topic = Math.max(0, shown.topics.findIndex((one) => one.topic === wanted));
    const list = await articlesOf(state.topic);
    fill("pick-article", list.map((article, i) => [i, label(article, i)]), 0);
    byId("pick-topic").value = String(state.topic);
    await show();
  };
})();
