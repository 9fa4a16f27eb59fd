// The history of a judgement: who did what and when, and the way back to any state.

import { said } from "./held.js";
import { notice } from "./notice.js";
import { newToken } from "./outbox.js";
import { get, post } from "./server.js";

const element = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
const SOURCES = { replace: ({ source }) => (source?.back ? `back to step ${source.back}` : source?.rule ? `${source.rule === "one" ? "as judged by" : `${source.rule} of`} ${source.of.join(", ")}` : "replaced"), undo: () => "undo", redo: () => "redo" };

async function goBack(desk, to) {
  await desk.queue.empty();
  const values = { ...desk.where, to, version: desk.queue.version, token: newToken() };
  const { status, answer } = await post("/api/back", values);
  if (status === 200) location.reload();
  else notice(answer.error);
}

export async function showHistory(desk) {
  const dialog = document.getElementById("history");
  const { events } = await get("/api/history", desk.where).catch(() => ({ events: null }));
  if (!events) return notice("The server is away; the history is kept there.");
  const rows = events.map(({ at, actor, edit, state }, k) => {
    const row = document.createElement("tr");
    const [number, what] = desk.onElements ? [Object.keys(state.grades).length, "grade"] : [state.highlights.length, "highlight"];
    const marks = `${number} ${what}${number === 1 ? "" : "s"}`;
    for (const text of [k + 1, at.slice(0, 19).replace("T", " "), actor, SOURCES[edit.kind]?.(edit) ?? said(edit), `${state.status}, ${marks}`]) row.append(element("td", text));
    const button = Object.assign(element("button", "Back to this"), { type: "button", disabled: k === events.length - 1 });
    button.addEventListener("click", () => {
      dialog.close();
      goBack(desk, k + 1);
    });
    row.append(document.createElement("td"));
    row.lastChild.append(button);
    return row;
  });
  dialog.querySelector("tbody").replaceChildren(...rows.reverse());
  dialog.querySelector(".empty").hidden = rows.length > 0;
  return dialog.showModal();
}
