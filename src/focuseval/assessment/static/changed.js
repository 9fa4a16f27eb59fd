// A text that changed after it was judged: what moves with it, what is lost, and the assessor's consent.

import { notice } from "./notice.js";
import { newToken } from "./outbox.js";
import { post } from "./server.js";

export function offerText(desk, changed) {
  const lost = changed.highlights.filter((one) => !one.after);
  const moved = changed.highlights.filter((one) => one.verdict === "moved");
  const accept = async (drop) => {
    const values = { ...desk.where, version: desk.state.version, token: newToken(), drop_lost: drop };
    const { status, answer } = await post("/api/reanchor", values);
    if (status === 200) location.reload();
    else notice(answer.error);
  };
  const button = lost.length ? [`Go on without ${lost.length}`, () => accept(true)] : ["Move the highlights", () => accept(false)];
  notice(
    `The text has changed since it was judged: ${moved.length} of ${changed.highlights.length} highlights move with `
      + `their text, ${lost.length} ${lost.length === 1 ? "was" : "were"} not found again.`,
    "problem",
    [button],
    lost.map((one) => one.diff.join("\n") || one.quote),
  );
}

/** The judgement as it would stand in the new text; where it stood in the old one are other words now. */
export function asProposed({ state, changed }) {
  const highlights = changed.highlights.flatMap((one) => (one.after ? [one.after] : [])).sort(([a], [b]) => a - b);
  return { ...state, highlights, bep: null, entry_point: highlights[0]?.[0] ?? null };
}
