// Edits that wait for their author: made from a state that is not the newest, or refused for good.

import { drop, list, sameDocument } from "./outbox.js";

const readable = (text) => text.toWellFormed?.() ?? text;
const quoted = (text) => `“${readable(text).length > 60 ? `${readable(text).slice(0, 57)}…` : readable(text)}”`;

const SAID = {
  highlight: (edit) => `highlight ${quoted(edit.quote)}`,
  unhighlight: (edit) => `remove the highlight from ${quoted(edit.quote)}`,
  entry: (edit) => (edit.position === null ? "entry point back to the first highlight" : `entry point at character ${edit.position}`),
  grade: (edit) => `grade ${edit.grade ?? "–"} for ${edit.paths.length === 1 ? edit.paths[0] : `${edit.paths.length} elements`}`,
  finish: (edit) => `done: ${edit.relevant ? "relevant" : "not relevant"}`,
  flag: (edit) => (edit.on ? "flag" : "take the flag away"),
  note: (edit) => `note ${quoted(edit.text)}`,
  reopen: () => "open again",
  skip: () => "skip",
};

export function said(edit) {
  return SAID[edit.kind]?.(edit) ?? edit.kind;
}

export function heldEdits(where) {
  return list().filter((item) => item.held && sameDocument(item.where, where));
}

/** List every held edit of a document with its two answers; the list stays until the last one is answered. */
export function showHeld(desk) {
  const node = document.getElementById("held");
  const items = heldEdits(desk.where);
  node.hidden = !items.length;
  if (!items.length) return node.replaceChildren();
  const conflict = items.some((item) => item.held.why === "conflict");
  const heading = document.createElement("p");
  heading.textContent = conflict
    ? "This document was changed elsewhere meanwhile. You see the newer state; these edits of yours are not in it:"
    : "These edits cannot be saved:";
  const rows = document.createElement("ul");
  rows.append(...items.map((item) => row(desk, item)));
  node.replaceChildren(heading, rows);
  if (items.length > 1) node.append(buttons(desk, items, conflict, " all"));
  return null;
}

function row(desk, item) {
  const line = document.createElement("li");
  const why = item.held.why === "refused" ? ` (${item.held.error})` : "";
  line.append(Object.assign(document.createElement("span"), { textContent: said(item.edit) + why }));
  line.append(buttons(desk, [item], item.held.why === "conflict", ""));
  return line;
}

function buttons(desk, items, again, word) {
  const row = Object.assign(document.createElement("span"), { className: "row" });
  const answer = (act) => () => {
    for (const item of items) {
      act(item);
      drop(item);
    }
    showHeld(desk);
  };
  if (again) row.append(button(`Do${word} again`, answer((item) => desk.edit(item.edit))));
  row.append(button(again ? `Leave${word}` : `Discard${word}`, answer(() => {})));
  return row;
}

function button(label, run) {
  const node = Object.assign(document.createElement("button"), { type: "button", textContent: label });
  node.addEventListener("click", run);
  return node;
}
