// What the reader has chosen: two runs, a measure, a topic, a document, a cut-off, filters. The address holds all of it.
"use strict";
(() => {
  const { data } = focuseval;
  const listeners = [];
  const choices = () => data("report-data").choices;

  /** What an address without anything means. */
  const defaults = () => ({
    a: choices().a, b: choices().b ?? -1, measure: choices().decides, topic: -1, doc: "", at: "", cut: "", sort: "difference", runs: "", slices: "", all: "", query: "", tag: "", sign: "", least: "",
  });

  const NAMES = { a: "a", b: "b", measure: "m", topic: "topic", doc: "doc", at: "at", cut: "cut", sort: "sort", runs: "runs", slices: "slices", all: "all", query: "q", tag: "tag", sign: "sign", least: "least" };
  const LISTS = { a: "runs", b: "runs", measure: "measures", topic: "topics" };

  const state = {};

  /** A state as the part of an address behind #; only what differs from the default. */
  const address = (changes = {}) => {
    const query = new URLSearchParams();
    const [wanted, usual] = [{ ...state, ...changes }, defaults()];
    for (const [key, name] of Object.entries(NAMES)) {
      if (wanted[key] === usual[key] || wanted[key] === undefined) continue;
      const list = LISTS[key];
      query.set(name, list ? choices()[list][wanted[key]] ?? "none" : wanted[key]);
    }
    return `#${query}`;
  };

  /** A function from topics to their addresses, all else as it is: quick for long tables. */
  const topicAddresses = () => {
    const rest = address({ topic: undefined, doc: "", at: "" }).slice(1);
    return (topic) => `#topic=${encodeURIComponent(choices().topics[topic])}${rest ? `&${rest}` : ""}`;
  };

  /** The state that an address asks for, and what it names that is not in this report. */
  const read = (hash) => {
    const query = new URLSearchParams(hash.slice(1));
    const [found, unknown] = [defaults(), []];
    for (const [key, name] of Object.entries(NAMES)) {
      if (!query.has(name)) continue;
      const text = query.get(name);
      if (!LISTS[key]) found[key] = text;
      else if (text === "none") found[key] = -1;
      else {
        const number = choices()[LISTS[key]].indexOf(text);
        if (number >= 0) found[key] = number;
        else unknown.push([key, text]);
      }
    }
    return [found, unknown];
  };

  const tell = (changed) => {
    for (const listener of listeners) listener(changed);
  };

  /** Change some of the state; `push` makes a step that the browser's Back undoes. */
  const change = (changes, { push = false } = {}) => {
    const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
    if (!changed.length) return;
    Object.assign(state, changes);
    history[push ? "pushState" : "replaceState"]({ seen: true, pushed: push || Boolean(history.state?.pushed) }, "", address());
    tell(new Set(changed));
  };

  /** Follow the address of the moment; sections such as #about are the browser's own. Tells what it names in vain, and whether it is new: Back and Forward are not. */
  const follow = () => {
    if (location.hash && !location.hash.includes("=")) return { unknown: [], fresh: false };
    const [[found, unknown], fresh] = [read(location.hash), history.state === null];
    history.replaceState({ seen: true, ...history.state }, "");
    const changed = Object.keys(found).filter((key) => state[key] !== found[key]);
    Object.assign(state, found);
    if (changed.length) tell(new Set(changed));
    return { unknown, fresh };
  };

  focuseval.choice = { address, change, topicAddresses, choices, defaults, follow, listen: (listener) => listeners.push(listener), state };
})();
