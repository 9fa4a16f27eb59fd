// What an edit will most likely lead to, shown at once; the server's answer is what counts.

import { isFinished } from "./reopened.js";
import { add, subtract } from "./spans.js";

/** Undo, redo, finishing and skipping depend on more than the page knows: they wait for the answer. */
export function foresee(state, edit) {
  const open = { status: "in progress" };
  const remarked = isFinished(state) ? open : {};
  const foreseen = {
    highlight: () => ({ ...open, highlights: add(state.highlights, edit.start, edit.end) }),
    unhighlight: () => ({ ...open, highlights: subtract(state.highlights, edit.start, edit.end) }),
    entry: () => ({ ...open, bep: edit.position }),
    flag: () => ({ ...remarked, flagged: edit.on }),
    note: () => ({ ...remarked, note: edit.text }),
    reopen: () => open,
  }[edit.kind]?.() ?? {};
  const after = { ...state, ...foreseen };
  return { ...after, entry_point: after.bep ?? after.highlights[0]?.[0] ?? null };
}
