// Any edit opens a finished document again: say so, and how one key finishes it.

import { notice } from "./notice.js";

const WHY = {
  highlight: "highlight",
  unhighlight: "removing a highlight",
  entry: "entry point",
  grade: "grade",
  flag: "flag",
  note: "note",
};

export function isFinished(state) {
  return state.status === "relevant" || state.status === "not relevant";
}

/** Whether an edit, and not a wish to do so, has opened a finished document. */
export function reopens(before, after, edit) {
  return edit.kind in WHY && isFinished(before) && !isFinished(after);
}

export function tellReopened(desk, edit) {
  const relevant = desk.state.highlights.length > 0;
  const word = relevant ? "relevant" : "not relevant";
  const typing = document.activeElement === desk.note ? "Esc " : "";
  const why = edit.kind === "flag" && !edit.on ? "taking the flag away" : WHY[edit.kind];
  notice(`Reopened by ${/ing /.test(why) ? why : `your ${why}`}. Is it done?`, "remark", [
    [`Done again: ${word} (${typing}${relevant ? "r" : "n"})`, () => desk.finish(relevant)],
    [`Undo (${typing}z)`, () => desk.edit({ kind: "undo" })],
  ]);
}
