// The side panel: status, warnings, where the caret is, and the specificity of every element it touches.

import { percent } from "./elements.js";
import { isFinished } from "./reopened.js";

const LISTED = 150;

const element = (tag, className, text) => Object.assign(document.createElement(tag), { className, textContent: text ?? "" });

export function showStatus(state, { othersDone, total }) {
  const node = document.getElementById("status");
  node.textContent = state.status === "todo" ? "to do" : state.status;
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

/** 2002 to 2004: a pair of grades for the element at the caret, all around it, and all that are graded or need it. */
export function showPairs(desk) {
  const { grades, ungraded } = desk.state;
  const focused = document.activeElement.getAttribute("aria-label");
  const here = desk.elements.chain(desk.view.map.toCodePoint(desk.cursor.span[0])).map((row) => desk.elements.path[row]);
  const shown = new Set([...here, ...Object.keys(grades), ...ungraded]);
  const items = desk.elements.path.flatMap((path, row) => (shown.has(path) ? [[path, row]] : [])).slice(0, LISTED).map(([path, row]) => {
    const item = element("li", ungraded.includes(path) ? "missing" : path === desk.here ? "here" : "");
    const button = Object.assign(element("button", "quiet element-name", ending(path)), { type: "button", title: path });
    button.addEventListener("click", () => desk.selectElement(row));
    const select = document.createElement("select");
    select.setAttribute("aria-label", `Grades of ${path}`);
    for (const grade of ["", ...desk.grades]) select.add(new Option(grade || "–", grade));
    select.value = grades[path] ?? "";
    select.addEventListener("change", () => desk.grade(select.value || null, path));
    item.append(button, select);
    return item;
  });
  const list = element("ol", "grades");
  list.append(...items);
  document.getElementById("grades").replaceChildren(list);
  if (focused?.startsWith("Grades of ")) list.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
}

/** What runs returned of the document: marked in the text, listed with the runs where these are named. */
export function showPooled(desk) {
  const innermost = []; // a whole article among the results would mark everything
  for (const [start, end] of desk.pooled.toSorted((a, b) => a[1] - b[1] || b[0] - a[0])) {
    if (start >= (innermost.at(-1)?.[1] ?? 0)) innermost.push([start, end]);
  }
  desk.painter.set("pooled", desk.view.toUnits(innermost), -1);
  const items = desk.pooled.slice(0, LISTED).map(([start, end, runs]) => {
    const row = desk.elements.chain(start, end).findLast((one) => desk.elements.start[one] === start && desk.elements.end[one] === end);
    const item = document.createElement("li");
    const name = row === undefined ? `${start}–${end}` : ending(desk.elements.path[row]);
    const button = Object.assign(element("button", "quiet element-name", name), { type: "button", title: desk.elements.path[row] ?? name });
    button.addEventListener("click", () => desk.selectSpan([start, end]));
    item.append(button, element("span", "runs", runs.join(", ")));
    return item;
  });
  document.querySelector("#pooled ol").replaceChildren(...items);
  document.getElementById("returned").textContent = `${desk.pooled.length} part${desk.pooled.length > 1 ? "s" : ""}`;
  document.getElementById("pooled").hidden = false;
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
