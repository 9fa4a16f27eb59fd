// Walking through lists and text: pickers, the cut-off, buttons, keys, and what an address asks for.
"use strict";
(() => {
  const { byId, node, option, visible } = focuseval;
  const { change, choices, follow, listen, state } = focuseval.choice;
  const { UNITS, budgetsOf, cut, cutWords, isCounted, lists, resultsOf } = focuseval.results;
  const { open, openTopic, show, showNumbers } = focuseval.heat;
  const LETTERS = Object.fromEntries(Object.entries(UNITS).map(([letter, unit]) => [unit, letter]));

  const label = ({ doc, judged, rank }, number) => `${number + 1}. ${lists().documents[doc]}${[" (not judged)", " (not relevant)", ""][judged]}${rank ? "" : " (not returned)"}`;

  const settle = () => {
    byId("pick-topic").value = String(state.topic);
    byId("pick-article").replaceChildren(...open.documents.map((one, i) => option(i, label(one, i))));
    byId("pick-article").value = String(open.place);
  };

  /** How far the slider goes: as far as the longer list of this topic. */
  const most = (unit) => {
    const all = [state.a, state.b].filter((run) => run >= 0).flatMap((run) => resultsOf(state.topic, run).filter((one) => one.rank <= lists().depth));
    const key = { results: (one) => one.rank, articles: (one) => one.article, characters: (one) => one.before + one.length }[unit];
    return Math.max(1, ...all.map(key));
  };

  const settleCut = () => {
    const at = cut();
    const [slider, unit] = [byId("cut-amount"), byId("cut-unit")];
    unit.value = at ? at[1] : "all";
    slider.disabled = !at || isCounted(at[1]);
    byId("cut-note").hidden = !at || !isCounted(at[1]);
    if (at && isCounted(at[1])) [slider.max, slider.value] = [String(at[0]), String(at[0])];
    else if (at) {
      slider.max = String(Math.max(at[0], most(at[1])));
      slider.value = String(at[0]);
    }
    const words = cutWords(at, "all results");
    slider.setAttribute("aria-valuetext", words);
    byId("cut-said").textContent = words;
    byId("cut-back").hidden = !state.cut;
  };

  const moveCut = (unit, amount) => change({ cut: unit === "all" ? "all" : `${Math.max(1, Math.round(amount))}${LETTERS[unit]}` });

  const chooseUnit = (event) => {
    const unit = event.target.value;
    if (isCounted(unit)) {
      const own = choices().cuts[state.measure];
      change({ cut: own?.[1] === unit ? "" : `${budgetsOf(unit)[0]}${LETTERS[unit]}` });
      return;
    }
    const usual = { results: 5, articles: 5, characters: 2000 }[unit];
    moveCut(unit, Math.min(usual, unit === "all" ? 1 : most(unit)));
  };

  const phone = matchMedia("(max-width: 700px)");

  /** On a phone a text that was chosen lies over the list. */
  const settleSide = () => {
    const open_ = Boolean(state.doc);
    document.querySelector(".split").toggleAttribute("data-open", open_);
    document.documentElement.toggleAttribute("data-covered", open_);
  };

  const refresh = async ({ jump = true, again = true } = {}) => {
    settleSide();
    const there = await openTopic();
    settle();
    settleCut();
    if (again) showNumbers();
    await Promise.all([show({ jump }), again ? focuseval.lists.show() : null]);
    if (!there && state.doc) byId("heat-title-line").prepend(node("span", { class: "note" }, `Document ${visible(state.doc)} is not in this report; this is another one of the topic. `));
  };

  const goTopic = (topic) => {
    const number = choices().topics.length;
    change({ topic: (topic + number) % number, doc: "", at: "" }, { push: true });
  };

  const goDocument = (place) => {
    const { doc } = open.documents[place];
    change({ doc: lists().documents[doc], at: "" });
  };

  /** The next or previous document; past the last one of a topic comes the next topic. */
  const step = (by) => {
    const next = open.place + by;
    if (next >= 0 && next < open.documents.length) goDocument(next);
    else goTopic(state.topic + by);
  };

  const stepMark = (by) => {
    if (!open.marks.length) return;
    open.marks[open.mark]?.classList.remove("now");
    open.mark = open.mark < 0 && by < 0 ? open.marks.length - 1 : (open.mark + by + open.marks.length) % open.marks.length;
    open.marks[open.mark].classList.add("now");
    focuseval.bring(byId("heat-text"), open.marks[open.mark]);
  };

  const toggleElements = () => {
    open.elements = !open.elements;
    byId("show-elements").setAttribute("aria-pressed", String(open.elements));
    return show({ jump: false });
  };

  let busy = Promise.resolve();
  let opener = null; // the link that opened the text, where the focus goes when it is closed

  /** Show the text of a result beside its list: the page stays where it is. */
  const openResult = (event) => {
    const link = event.target.closest("a[data-at]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    opener = link.dataset.at;
    change({ doc: link.dataset.doc, at: link.dataset.at }, { push: true });
    if (phone.matches) byId("close-text").focus();
  };

  const closeText = () => {
    if (history.state?.pushed) history.back();
    else change({ doc: "", at: "" });
  };

  /** When Back has closed the text on a phone, the reader is where he was. */
  const returned = () => {
    if (!state.doc && phone.matches && opener) document.querySelector(`.left [data-at="${opener}"]`)?.focus({ preventScroll: true });
  };

  const ACTIONS = {
    "next-article": ["j", () => step(1)], "previous-article": ["k", () => step(-1)],
    "next-topic": ["n", () => goTopic(state.topic + 1)], "previous-topic": ["p", () => goTopic(state.topic - 1)],
    "next-mark": [".", () => stepMark(1)], "previous-mark": [",", () => stepMark(-1)], "show-elements": ["e", toggleElements],
  };
  const ARROWS = { ArrowRight: "next-article", ArrowLeft: "previous-article" };

  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input, textarea")) return;
    if (event.key === "Escape" && phone.matches && state.doc) return closeText();
    const name = ARROWS[event.key] ?? Object.keys(ACTIONS).find((id) => ACTIONS[id][0] === event.key);
    if (!name) return;
    event.preventDefault();
    ACTIONS[name][1]();
  };

  /** Bring lists and text into view; a link that was followed should lead somewhere. */
  const arrive = () => {
    document.querySelector(".desk").scrollIntoView();
    byId("lists-title").focus({ preventScroll: true });
  };

  const onChange = async (changed) => {
    if (state.topic < 0) state.topic = firstTopic();
    const far = changed.has("topic");
    if (far || ["doc", "at", "a", "b"].some((key) => changed.has(key))) await refresh({ jump: far || changed.has("doc") || changed.has("at"), again: far || changed.has("a") || changed.has("b") });
    else if (["cut", "measure"].some((key) => changed.has(key))) {
      settleCut();
      showNumbers();
      await Promise.all([show({ jump: false }), focuseval.lists.show()]);
    }
  };

  /** The topic that is open before anybody chooses one: the first that carries the difference. */
  const firstTopic = () => {
    const rows = focuseval.scores.topicRows();
    const [row] = state.b < 0 ? [...rows].sort((x, y) => x.a - y.a) : focuseval.scores.carrying(rows);
    return (row ?? rows[0])?.topic ?? 0;
  };

  const listenAll = () => {
    byId("pick-topic").addEventListener("change", (event) => goTopic(Number(event.target.value)));
    byId("pick-article").addEventListener("change", (event) => goDocument(Number(event.target.value)));
    byId("cut-unit").addEventListener("change", chooseUnit);
    byId("cut-amount").addEventListener("input", (event) => moveCut(byId("cut-unit").value, Number(event.target.value)));
    byId("cut-back").addEventListener("click", () => change({ cut: "" }));
    for (const side of ["list-a", "list-b", "answer-a", "answer-b"]) byId(side).addEventListener("click", openResult);
    byId("close-text").addEventListener("click", closeText);
    for (const [id, [, act]] of Object.entries(ACTIONS)) byId(id).addEventListener("click", act);
    byId("heat").addEventListener("keydown", onKey);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show({ jump: false }));
    addEventListener("resize", () => focuseval.lists.lines());
  };

  focuseval.startHeat = async () => {
    const asked = () => new URLSearchParams(location.hash.slice(1)).has("topic");
    addEventListener("hashchange", () => {
      const { fresh, unknown } = follow();
      if (fresh && asked() && !unknown.length && document.querySelector(".desk")) arrive();
      if (!fresh) busy.then(returned);
      focuseval.refuse(unknown);
    });
    const desk = document.querySelector(".desk");
    if (!desk) return;
    desk.hidden = false;
    const { titles, topics } = choices();
    byId("pick-topic").replaceChildren(...topics.map((name, i) => option(i, titles[i] ? `${name}  ${titles[i]}` : name)));
    for (const one of byId("cut-unit").options) one.hidden = one.disabled = isCounted(one.value) && !budgetsOf(one.value).length;
    if (state.topic < 0) state.topic = firstTopic();
    listenAll();
    listen((changed) => (busy = onChange(changed)));
    focuseval.minimap.start();
    await refresh();
    const { fresh, unknown } = focuseval.begun;
    if (fresh && asked() && !unknown.length) arrive();
    await focuseval.openBlocks();
  };
})();
