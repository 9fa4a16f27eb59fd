// Every action once: its keys, its words, its button; the help overlay is made from the same table.

import { openFind } from "./find.js";
import { showHistory } from "./history.js";

const MARKED = ["highlights", "exhaustivity"]; // the scales on which text is highlighted

export const ACTIONS = [
  { group: "Move", keys: ["ArrowDown", "j"], name: "next paragraph", run: (desk) => desk.cursor.toBlock(1) },
  { group: "Move", keys: ["ArrowUp", "k"], name: "previous paragraph", run: (desk) => desk.cursor.toBlock(-1) },
  { group: "Move", keys: ["ArrowRight"], name: "one character", run: (desk) => desk.cursor.by("grapheme", 1, false) },
  { group: "Move", keys: ["ArrowLeft"], name: "one character back", run: (desk) => desk.cursor.by("grapheme", -1, false) },
  { group: "Move", keys: ["Ctrl+ArrowRight", "Alt+ArrowRight"], name: "one word", run: (desk) => desk.cursor.by("word", 1, false) },
  { group: "Move", keys: ["Ctrl+ArrowLeft", "Alt+ArrowLeft"], name: "one word back", run: (desk) => desk.cursor.by("word", -1, false) },
  { group: "Move", keys: ["PageDown"], name: "one page", run: (desk) => desk.scrolling.page(1) },
  { group: "Move", keys: ["PageUp"], name: "one page back", run: (desk) => desk.scrolling.page(-1) },
  { group: "Move", keys: ["Home"], name: "to the beginning", run: (desk) => desk.scrolling.end(false) },
  { group: "Move", keys: ["End"], name: "to the end", run: (desk) => desk.scrolling.end(true) },
  { group: "Move", keys: ["q"], name: "next word of the topic", button: "Next term", run: (desk) => desk.toTerm(1) },
  { group: "Move", keys: ["Shift+Q"], name: "previous word of the topic", run: (desk) => desk.toTerm(-1) },
  { group: "Move", keys: ["c"], name: "next heading", run: (desk) => desk.toHeading(1) },
  { group: "Move", keys: ["Shift+C"], name: "previous heading", run: (desk) => desk.toHeading(-1) },
  { group: "Move", keys: ["/"], name: "find in the document (Enter: next, Esc: back to the text)", run: () => openFind() },
  { group: "Move", keys: [","], name: "next part that a run returned, if these are shown", run: (desk) => desk.toPooled() },
  { group: "Move", keys: ["g"], scales: MARKED, name: "next highlight", run: (desk) => desk.toHighlight() },

  { group: "Select", keys: ["w"], name: "one word more", run: (desk) => desk.cursor.by("word", 1, true) },
  { group: "Select", keys: ["Shift+W"], name: "one word less", run: (desk) => desk.cursor.by("word", -1, true) },
  { group: "Select", keys: ["s"], name: "one sentence more", run: (desk) => desk.cursor.by("sentence", 1, true) },
  { group: "Select", keys: ["Shift+S"], name: "one sentence less", run: (desk) => desk.cursor.by("sentence", -1, true) },
  { group: "Select", keys: ["e"], name: "the element around", run: (desk) => desk.cursor.grow() },
  { group: "Select", keys: ["Shift+E"], name: "back to the element inside", run: (desk) => desk.cursor.shrink() },
  { group: "Select", keys: ["Shift+ArrowRight"], name: "one character more", run: (desk) => desk.cursor.by("grapheme", 1, true) },
  { group: "Select", keys: ["Shift+ArrowLeft"], name: "one character less", run: (desk) => desk.cursor.by("grapheme", -1, true) },
  { group: "Select", keys: ["Escape"], name: "nothing", run: (desk) => desk.clear() },

  { group: "Highlight", keys: ["h", "Enter"], scales: MARKED, name: "highlight the selection", button: "Highlight", bubble: true, run: (desk) => desk.highlight() },
  { group: "Highlight", keys: ["x"], scales: MARKED, name: "highlight this element", button: "This element", run: (desk) => desk.highlightElement() },
  { group: "Highlight", keys: ["u", "Delete"], scales: MARKED, name: "remove the highlight", button: "Remove", bubble: true, run: (desk) => desk.unhighlight() },
  { group: "Highlight", keys: ["b"], scales: MARKED, name: "best entry point here", button: "Entry point", bubble: true, run: (desk) => desk.setEntry() },
  { group: "Highlight", keys: ["Shift+B"], scales: MARKED, name: "entry point back to the first highlight", run: (desk) => desk.edit({ kind: "entry", position: null }) },
  { group: "Highlight", keys: ["+"], suggested: true, name: "take the suggestion here, or the next one", button: "Take", run: (desk) => desk.suggestion(true) },
  { group: "Highlight", keys: ["*"], suggested: true, name: "take all suggestions", button: "Take all", run: (desk) => desk.takeAll() },
  { group: "Highlight", keys: ["-"], suggested: true, name: "wave the suggestion away", button: "Not this", run: (desk) => desk.suggestion(false) },
  { group: "Highlight", keys: ["z", "Ctrl+z"], name: "undo", button: "Undo", run: (desk) => desk.edit({ kind: "undo" }) },
  { group: "Highlight", keys: ["Shift+Z", "y", "Ctrl+y", "Ctrl+Shift+Z"], name: "redo", button: "Redo", run: (desk) => desk.edit({ kind: "redo" }) },
  { group: "Highlight", keys: ["a"], scales: MARKED, name: "highlight whatever the mouse selects", run: (desk) => desk.toggleMarker() },

  { group: "Decide", keys: ["r"], name: "done: relevant", button: "Relevant", main: "relevant", run: (desk) => desk.finish(true) },
  { group: "Decide", keys: ["n"], name: "done: not relevant", button: "Not relevant", main: "not", run: (desk) => desk.finish(false) },
  { group: "Decide", keys: ["."], name: "next undone document", button: "Next undone", run: (desk) => desk.next() },
  { group: "Decide", keys: ["p"], name: "skip for now", button: "Skip", run: (desk) => desk.skip() },
  { group: "Decide", keys: ["o"], name: "open again", run: (desk) => desk.edit({ kind: "reopen" }) },
  { group: "Decide", keys: ["f"], name: "flag, or take the flag away", button: "Flag", run: (desk) => desk.edit({ kind: "flag", on: !desk.state.flagged }) },
  { group: "Decide", keys: ["m"], name: "write a note (Esc comes back)", run: (desk) => desk.writeNote() },
  { group: "Decide", keys: ["Shift+T"], drafted: true, name: "edit the question that a model wrote", run: (desk) => desk.editQuestion() },
  { group: "Decide", keys: ["2"], name: "exhaustivity 2 for this element", scales: ["exhaustivity"], run: (desk) => desk.grade("2") },
  { group: "Decide", keys: ["1"], name: "exhaustivity 1 for this element", scales: ["exhaustivity"], run: (desk) => desk.grade("1") },
  { group: "Decide", keys: ["0"], name: "too small for a grade (?)", scales: ["exhaustivity"], run: (desk) => desk.grade("?") },
  { group: "Decide", keys: ["1", "2", "3"], shown: ["1 … 3", "1 … 3"], name: "two keys: exhaustivity, then specificity of the element that is selected", scales: ["grades"], run: (desk, key) => desk.gradePair(key) },
  { group: "Decide", keys: ["1", "2", "3"], shown: ["1 … 3", "1 … 3"], name: "two keys: relevance, then coverage (1 too large, 2 too small, 3 exact) of the element that is selected", scales: ["coverage"], run: (desk, key) => desk.gradePair(key) },
  { group: "Decide", keys: ["0"], name: "nothing relevant in this element", scales: ["coverage", "grades"], run: (desk) => desk.grade(desk.grades[0]) },
  { group: "Decide", keys: ["Backspace"], name: "take the grade of this element away", scales: ["coverage", "grades"], run: (desk) => desk.grade(null) },

  { group: "Page", keys: ["]"], name: "following document", run: (desk) => desk.leave(desk.data.following) },
  { group: "Page", keys: ["["], name: "previous document", run: (desk) => desk.leave(desk.data.previous) },
  { group: "Page", keys: ["t"], name: "show element boundaries", button: "Elements", run: (desk) => desk.toggleElements() },
  { group: "Page", keys: ["d"], paged: true, name: "pages of a PDF, or its plain text", button: "Page or text", run: (desk) => desk.togglePages() },
  { group: "Page", keys: ["l"], name: "outline of the document", run: (desk) => desk.toggleOutline() },
  { group: "Page", keys: ["i"], name: "show or hide the metadata", run: (desk) => desk.metadata.toggle() },
  { group: "Page", keys: ["v"], name: "history of this judgement, and back to any state", run: (desk) => showHistory(desk) },
  { group: "Page", keys: ["?"], name: "these keys", button: "Keys", run: (desk) => desk.help.showModal() },
];

const LETTERS = "focuseval letters";

/** Whether keys of a single character work (WCAG 2.1.4: they can be switched off). */
export function lettersWork() {
  try {
    return localStorage.getItem(LETTERS) !== "off";
  } catch {
    return true;
  }
}

export function offerLetters(box) {
  box.checked = lettersWork();
  box.addEventListener("change", () => {
    try {
      if (box.checked) localStorage.removeItem(LETTERS);
      else localStorage.setItem(LETTERS, "off");
    } catch {
      // a browser without storage keeps its keys
    }
  });
}

const SHOWN = { PageDown: "Page ↓", PageUp: "Page ↑", ArrowDown: "↓", ArrowUp: "↑", ArrowRight: "→", ArrowLeft: "←", Escape: "Esc", Delete: "Del", Enter: "↵" };

export function pressed(event) {
  const key = event.key.length === 1 && event.shiftKey && /\p{L}/u.test(event.key) ? event.key.toUpperCase() : event.key;
  const shift = event.shiftKey && (event.key.length > 1 || /\p{L}/u.test(event.key)) ? "Shift+" : "";
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${shift}${key}`;
}

export function shownKey(key) {
  return key === "+" ? key : key.split("+").map((part) => SHOWN[part] ?? part).join(" ");
}

/** Listen for the table's keys, wherever the focus is, except where somebody types or presses a button. */
export function listen(desk, actions) {
  const byKey = new Map(actions.flatMap((action) => action.keys.map((key) => [key, action])));
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.defaultPrevented || event.isComposing) return;
    if (event.target.closest("textarea, input, select")) return;
    if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
    const action = byKey.get(pressed(event));
    if (!action || (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey && !lettersWork())) return;
    event.preventDefault();
    action.run(desk, event.key);
  });
}

export function helpInto(node, actions) {
  const groups = Map.groupBy ? Map.groupBy(actions, (a) => a.group) : groupBy(actions);
  for (const [group, members] of groups) {
    const list = document.createElement("dl");
    for (const action of members) {
      const keys = document.createElement("dt");
      (action.shown ?? action.keys.slice(0, 2)).forEach((key) => keys.append(Object.assign(document.createElement("kbd"), { textContent: shownKey(key) }), " "));
      list.append(keys, Object.assign(document.createElement("dd"), { textContent: action.name }));
    }
    const section = document.createElement("section");
    section.append(Object.assign(document.createElement("h3"), { textContent: group }), list);
    node.append(section);
  }
}

function groupBy(actions) {
  const groups = new Map();
  for (const action of actions) groups.set(action.group, [...(groups.get(action.group) ?? []), action]);
  return groups;
}

/** Buttons for the actions that have one. */
export function buttonsInto(node, desk, actions) {
  for (const action of actions) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = action.main ? `main ${action.main}` : "";
    button.dataset.action = action.keys[0];
    button.title = action.name;
    button.append(`${action.button} `, Object.assign(document.createElement("kbd"), { textContent: shownKey(action.keys[0]) }));
    button.addEventListener("mousedown", (event) => event.preventDefault());
    button.addEventListener("click", () => action.run(desk));
    node.append(button);
  }
}

/** A link that goes only after everything is saved, as the keys do. */
export function leaveBy(desk, link) {
  link.addEventListener("mousedown", (event) => event.preventDefault()); // a note keeps the focus until it is saved
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    desk.leave(link.href);
  });
}
