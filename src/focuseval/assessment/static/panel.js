// The side panel: status, warnings, where the caret is, and the specificity of every element it touches.

import { percent } from "./elements.js";
import { isFinished } from "./reopened.js";

const LISTED = 150;

const element = (tag, className, text) => Object.assign(document.createElement(tag), { className, textContent: text ?? "" });

export function showStatus(state, { othersDone, total }) {
  const node = document.getElementById("status");
  node.textContent = state.status;
  node.className = `tag ${state.status.replaceAll(" ", "-")}`;
  const done = Number(othersDone) + (isFinished(state) ? 1 : 0);
  document.getElementById("progress").textContent = `${done} of ${total}`;
  document.getElementById("flagged").hidden = !state.flagged;
  const training = document.getElementById("training");
  if (training) training.textContent = isFinished(state) ? "training: see the answer" : "training: finish it, then see the answer";
  const warnings = document.getElementById("warnings");
  warnings.replaceChildren(...state.warnings.map((text) => element("li", "", text)));
}

/** The last steps of a path: the first ones are the same everywhere. */
function ending(path) {
  const steps = path.split("/").slice(1);
  return steps.length > 2 ? `…/${steps.slice(-2).join("/")}` : `/${steps.join("/")}`;
}

function meter(sizes) {
  const bar = element("span", "meter");
  const fill = element("span", "fill");
  fill.style.inlineSize = `${sizes.size ? (100 * sizes.rsize) / sizes.size : 0}%`;
  bar.append(fill);
  return bar;
}

function line(name, title, sizes, onpick) {
  const item = document.createElement("li");
  const button = element("button", "quiet element-name", name);
  button.type = "button";
  button.title = title;
  button.addEventListener("click", onpick);
  item.append(button, meter(sizes), element("span", "share", percent(sizes)));
  return item;
}

/** The path from the root to where the caret is. */
export function showChain(desk, rows, sizes) {
  const items = rows.toReversed().map((row) =>
    line(desk.elements.tag(row), desk.elements.path[row], sizes[row], () => desk.selectElement(row)));
  document.getElementById("chain").replaceChildren(...items);
}

/** Every element with highlighted text, in document order. */
export function showSpecificity(desk, sizes) {
  const touched = sizes.flatMap(({ rsize }, row) => (rsize ? [row] : []));
  const items = touched.slice(0, LISTED).map((row) =>
    line(ending(desk.elements.path[row]), desk.elements.path[row], sizes[row], () => desk.selectElement(row)));
  if (touched.length > LISTED) items.push(element("li", "more", `and ${touched.length - LISTED} more`));
  document.getElementById("specificity").replaceChildren(...items);
  document.getElementById("touched").textContent = touched.length ? `${touched.length} element${touched.length > 1 ? "s" : ""}` : "";
}

/** 2005: a grade for every element with highlighted text; what rises from below is shown as such. */
export function showGrades(desk, sizes) {
  const state = desk.state;
  const rows = sizes.flatMap(({ rsize }, row) => (rsize ? [row] : [])).slice(0, LISTED);
  const items = rows.map((row) => {
    const path = desk.elements.path[row];
    const item = document.createElement("li");
    const select = document.createElement("select");
    select.setAttribute("aria-label", `Exhaustivity of ${path}`);
    const inferred = state.inferred?.[path];
    const empty = !state.grades[path] && inferred ? `${inferred} (inferred)` : "–";
    for (const grade of ["", "2", "1", "?"]) select.add(new Option(grade || empty, grade));
    select.value = state.grades[path] ?? "";
    select.addEventListener("change", () => desk.edit({ kind: "grade", paths: [path], grade: select.value || null }));
    item.className = inferred || state.grades[path] ? "" : "missing";
    item.append(Object.assign(element("span", "element-name", ending(path)), { title: path }), select);
    return item;
  });
  const rest = element("button", "", `The other ${state.ungraded?.length ?? 0} are too small (?)`);
  rest.type = "button";
  rest.hidden = !state.ungraded?.length;
  rest.addEventListener("click", () => desk.edit({ kind: "grade", paths: state.ungraded, grade: "?" }));
  const list = element("ol", "grades");
  list.append(...items);
  document.getElementById("grades").replaceChildren(list, rest);
}
