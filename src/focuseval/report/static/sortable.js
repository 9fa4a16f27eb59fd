// Tables of runs and slices that are sorted by a click on a heading; a second click turns the order round.
"use strict";
(() => {
  const { node } = focuseval;

  /** What a cell sorts by: its number, else its words; what has no value comes last. */
  const keyOf = (cell) => {
    const text = cell.textContent.trim().replace(/,/g, "").replace("−", "-");
    const number = Number.parseFloat(text.replace(/^[▲▼]\s*/, ""));
    return cell.classList.contains("number") ? (Number.isNaN(number) ? -Infinity : number) : text.toLowerCase();
  };

  const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

  const sort = (table, column, down) => {
    const rows = [...table.tBodies[0].rows];
    rows.sort((one, other) => (down ? -1 : 1) * compare(keyOf(one.cells[column]), keyOf(other.cells[column])));
    table.tBodies[0].append(...rows);
    [...table.tHead.rows[0].cells].forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      head.querySelector(".order").textContent = i === column ? (down ? " ▾" : " ▴") : "";
    });
  };

  /** Make the headings of a table buttons; numbers begin with the largest. */
  focuseval.sortable = (table) => {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = node("button", { type: "button" });
      button.append(...head.childNodes, node("span", { class: "order" }));
      head.append(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        sort(table, column, before ? before === "ascending" : head.classList.contains("number"));
      });
    });
  };
})();
