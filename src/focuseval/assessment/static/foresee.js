// What an edit will most likely lead to, shown at once; the server's answer is what counts.

import { isFinished } from "./reopened.js";
import { add, subtract } from "./spans.js";

/** Whether a state has what an edit asks for, so that nothing is lost where the edit comes too late. */
export function isIn(state, edit) {
  const has = {
    highlight: () => state.highlights.some(([start, end]) => start <= edit.start && edit.end <= end),
    unhighlight: () => !state.highlights.some(([start, end]) => start < edit.end && edit.start < end),
    entry: () => (edit.position === null ? state.bep === null : state.entry_point === edit.position),
    finish: () => state.status === (edit.relevant ? "relevant" : "not relevant"),
    skip: () => state.status === "skipped",
    flag: () => state.flagged === edit.on,
    note: () => state.note === edit.text,
  }[edit.kind];
  return has?.() ?? false;
}

function graded(grades, { paths, grade }) {
  const others = Object.entries(grades).filter(([path]) => !paths.includes(path));
  return Object.fromEntries(grade === null ? others : [...others, ...paths.map((path) => [path, grade])]);
}

/** Undo, redo, finishing and skipping depend on more than the page knows: they wait for the answer. */
export function foresee(state, edit) {
  const open = { status: "in progress" };
  const remarked = isFinished(state) ? open : {};
  const foreseen = {
    highlight: () => ({ ...open, highlights: add(state.highlights, edit.start, edit.end) }),
    unhighlight: () => ({ ...open, highlights: subtract(state.highlights, edit.start, edit.end) }),
    entry: () => ({ ...open, bep: edit.position }),
    grade: () => ({ ...open, grades: graded(state.grades, edit) }),
    flag: () => ({ ...remarked, flagged: edit.on }),
    note: () => ({ ...remarked, note: edit.text }),
    reopen: () => open,
  }[edit.kind]?.() ?? {};
  const after = { ...state, ...foreseen };
  return { ...after, entry_point: after.bep ?? after.highlights[0]?.[0] ?? null };
}
