// Tables of runs, measures and slices that are sorted by a click on a heading; a second click turns the order round. The address keeps it.
"use strict";
(() => {
  const { count, node } = focuseval;
  const { change, listen, state } = focuseval.choice;

  /** What a cell sorts by: its number, of an interval the lower end, else its words; null where it has no value. */
  const keyOf = (cell) => {
    const text = cell.textContent.trim().replace(/,(?=\d{3})/g, "").replace("−", "-");
    const number = Number.parseFloat(text.replace(/^[▲▼[]\s*/, ""));
    return cell.classList.contains("number") ? (Number.isNaN(number) ? null : number) : text.toLowerCase();
  };

  /** Compare two values; what has none comes last in both directions. */
  const compare = (one, other, sign) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * (one < other ? -1 : one > other ? 1 : 0);
  };

  const heads = (table) => [...table.tHead.rows[0].cells];

  /** The order of a table as [column, down]; no column where the address asks for none or for one that is not there. */
  const orderOf = (table) => {
    const asked = state[table.dataset.order];
    const [name, down] = asked.startsWith("-") ? [asked.slice(1), true] : [asked, false];
    return [heads(table).findIndex((head) => head.dataset.name === name), down];
  };

  /** Only the first rows are shown until the reader asks for all. */
  const shorten = (table) => {
    const most = Number(table.dataset.most ?? Infinity);
    [...table.tBodies[0].rows].forEach((row, i) => { row.hidden = i >= most; });
  };

  /** Sort a table as the address asks; without that, as it was made. */
  focuseval.sorted = (table) => {
    const [column, down] = orderOf(table);
    const rows = [...table.tBodies[0].rows];
    rows.forEach((row, i) => { row.focusevalPlace ??= i; });
    const keys = new Map(rows.map((row) => [row, column < 0 || !row.cells[column] ? null : keyOf(row.cells[column])]));
    rows.sort((one, other) => compare(keys.get(one), keys.get(other), down ? -1 : 1) || one.focusevalPlace - other.focusevalPlace);
    table.tBodies[0].append(...rows);
    heads(table).forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      head.querySelector(".order").textContent = i === column ? (down ? " ▾" : " ▴") : "";
    });
    shorten(table);
  };

  const more = (table) => {
    const hidden = table.tBodies[0].rows.length - Number(table.dataset.most ?? Infinity);
    if (hidden <= 0) return;
    const button = node("button", { type: "button", "aria-expanded": "false" }, `Show ${count(hidden)} more`);
    button.addEventListener("click", () => {
      delete table.dataset.most;
      shorten(table);
      button.remove();
    });
    table.closest(".wide").after(node("p", {}, button));
  };

  /** Make the headings of a table buttons; numbers begin with the largest. */
  focuseval.sortable = (table) => {
    const key = table.dataset.order;
    for (const head of heads(table)) {
      head.dataset.name ??= head.textContent.trim();
      const button = node("button", { type: "button" });
      button.append(...head.childNodes, node("span", { class: "order" }));
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : head.classList.contains("number");
        change({ [key]: `${down ? "-" : ""}${head.dataset.name}` });
      });
    }
    listen((changed) => changed.has(key) && focuseval.sorted(table));
    more(table);
    focuseval.sorted(table);
  };
})();
