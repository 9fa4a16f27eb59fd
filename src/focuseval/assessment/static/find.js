// Words in the document at hand: painted as they are typed, and gone through with Enter.

const field = () => document.getElementById("find");

export function openFind() {
  field().hidden = false;
  field().select();
  field().focus();
}

/** Every place of a text in the document, whatever its case, as spans of units. */
function placesOf(whole, wanted) {
  const pattern = new RegExp(wanted.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
  return wanted.trim() ? [...whole.matchAll(pattern)].map((found) => [found.index, found.index + found[0].length]) : [];
}

export function startFind(desk) {
  let places = [];
  const tell = (text) => (document.getElementById("found").textContent = text);
  const shown = () => places.filter(([start]) => !desk.view.blocks[desk.view.blockAt(start)].folded);
  field().addEventListener("input", () => {
    places = placesOf(desk.view.text, field().value);
    desk.painter.set("found", places, 2);
    tell(field().value.trim() ? `${shown().length} found` : "");
  });
  field().addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      const [all, { caret, started }] = [shown(), desk.cursor];
      const next = all.findIndex(([start]) => start > caret || (start === caret && !started));
      const at = Math.max(next, 0);
      if (!all.length) return;
      desk.cursor.go(all[at][0]);
      field().focus({ preventScroll: true });
      tell(`${at + 1} of ${all.length}`);
    } else if (event.key === "Escape") {
      field().hidden = true;
      field().value = "";
      desk.painter.set("found", [], 2);
      tell("");
      document.getElementById("text").focus({ preventScroll: true });
    }
  });
}
