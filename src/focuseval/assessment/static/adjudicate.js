// The adjudication page: every assessor's highlights beside each other, the disagreements one by one, and one decision.

import { buttonsInto, helpInto, listen, offerLetters } from "./keys.js";
import { Metadata } from "./metadata.js";
import { hide, notice } from "./notice.js";
import { newToken } from "./outbox.js";
import { createPainter } from "./paint.js";
import { get, post } from "./server.js";
import { counter, intersect, merge, subtract } from "./spans.js";
import { findTerms } from "./terms.js";
import { TextView } from "./textview.js";

const byId = (id) => document.getElementById(id);
const element = (tag, className, text) => Object.assign(document.createElement(tag), { className, textContent: text ?? "" });
const AROUND = 160; // characters of text on either side of a disagreement that is shown side by side
const LONGEST = 600;

const ACTIONS = [
  { group: "Disagreements", keys: ["n", "ArrowDown"], name: "next disagreement", button: "Next", run: (desk) => desk.go(1) },
  { group: "Disagreements", keys: ["p", "ArrowUp"], name: "previous disagreement", button: "Previous", run: (desk) => desk.go(-1) },
  { group: "Disagreements", keys: ["v"], name: "what everybody highlighted here, side by side", button: "Side by side", run: (desk) => desk.toggleVersions() },
  { group: "Disagreements", keys: ["s"], name: "show the next assessor alone, or everyone", run: (desk) => desk.showNext() },
  { group: "Decide", keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], shown: ["1", "9"], name: "accept the first … ninth assessor", decides: true, run: (desk, key) => desk.accept(Number(key) - 1) },
  { group: "Decide", keys: ["u"], name: "accept the union", decides: true, run: (desk) => desk.decide("union", desk.taken) },
  { group: "Decide", keys: ["c"], name: "accept what all have in common", decides: true, run: (desk) => desk.decide("intersection", desk.taken) },
  { group: "Decide", keys: ["e"], name: "edit the decision; if there is none, start from what is shown", decides: true, run: (desk) => desk.editDecision() },
  { group: "Decide", keys: ["z", "Ctrl+z"], name: "undo the last decision", decides: true, run: (desk) => desk.undo() },
  { group: "Page", keys: ["."], name: byId("desk").dataset.source === "/api/training" ? "next document" : "next document: the one with the least agreement", run: () => byId("following").click() },
  { group: "Page", keys: ["i"], name: "show or hide the metadata", run: (desk) => desk.metadata.toggle() },
  { group: "Page", keys: ["?"], name: "these keys", button: "Keys", run: (desk) => desk.help.showModal() },
];

class Adjudication {
  constructor(where, loaded) {
    Object.assign(this, { where, sides: loaded.sides, decided: loaded.decided, stale: loaded.stale, at: -1 });
    this.compares = byId("desk").dataset.source === "/api/training"; // one's own judgement with the known answer
    this.taking = new Set(loaded.sides.filter((side) => !side.imported).map((side) => side.assessor));
    this.view = new TextView(byId("text"), loaded.document);
    this.painter = createPainter(this.view);
    this.painter.set("term", findTerms(this.view.text, JSON.parse(byId("desk").dataset.terms)), 2);
    this.length = this.view.map.toCodePoint(this.view.text.length);
    this.metadata = new Metadata(this.view, () => {});
    this.metadata.reveal(this.view.toUnits(merge(this.sides.flatMap((side) => side.highlights))));
    this.help = byId("help");
    this.#stripes();
    this.#list();
    this.#buttons();
    this.#map();
    const actions = ACTIONS.filter((action) => !action.decides || byId("decisions"));
    listen(this, actions);
    helpInto(byId("keys"), actions);
    offerLetters(byId("letters"));
    buttonsInto(byId("moves"), this, actions.filter((action) => action.button));
    this.show();
    this.go(1);
  }

  /** The assessors whom union and intersection are made of. */
  get taken() {
    return this.sides.map((side) => side.assessor).filter((name) => this.taking.has(name));
  }

  /** Those whose highlights are compared: one alone, or everybody who takes part. */
  get shown() {
    const chosen = document.querySelector("input[name=side]:checked").value;
    const all = this.sides.filter((side) => this.taking.has(side.assessor));
    return chosen === "all" ? (all.length ? all : this.sides) : [this.sides[Number(chosen)]];
  }

  /** Beside every block, for every assessor, how much of it they highlighted. */
  #stripes() {
    const counts = this.sides.map((side) => counter(side.highlights));
    for (const block of this.view.blocks) {
      const [start, end] = [this.view.map.toCodePoint(block.start), this.view.map.toCodePoint(block.end)];
      counts.forEach((before, number) => {
        const share = (before(end) - before(start)) / (end - start);
        if (!share) return;
        const stripe = element("i", `stripe side-${number % 6}`);
        stripe.style.opacity = 0.35 + 0.65 * share;
        stripe.style.insetInlineStart = `${2 + 5 * number}px`;
        block.node.append(stripe);
      });
    }
  }

  #list() {
    const everyone = this.#choice(this.compares ? "Both" : "Everyone", "all", "", "");
    const items = this.sides.map((side, number) => {
      const told = [side.status, side.flagged ? "flagged" : "", side.note].filter(Boolean).join(" · ");
      const item = this.#choice(side.label, String(number), `chip side-${number % 6}`, told);
      if (byId("decisions")) item.append(this.#takesPart(side));
      return item;
    });
    byId("sides").replaceChildren(everyone, ...items);
    everyone.querySelector("input").checked = true;
  }

  #choice(name, value, className, told) {
    const item = document.createElement("li");
    const label = document.createElement("label");
    const input = Object.assign(document.createElement("input"), { type: "radio", name: "side", value });
    input.addEventListener("change", () => this.show());
    const said = document.createElement("div");
    said.append(element("strong", "", name), element("span", "told", told));
    label.append(input, element("span", className), said);
    item.append(label);
    return item;
  }

  /** Whose judgements union and intersection are made of: people's, and an import's when asked. */
  #takesPart(side) {
    const label = element("label", "told", "");
    const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: this.taking.has(side.assessor) });
    box.dataset.takesPart = side.assessor;
    box.addEventListener("change", () => {
      if (box.checked) this.taking.add(side.assessor);
      else this.taking.delete(side.assessor);
      this.#buttons();
      this.show();
    });
    label.append(box, " takes part");
    return label;
  }

  #buttons() {
    if (!byId("decisions")) return;
    const all = this.taken;
    const choices = [
      ...this.sides.map((side, number) => [`Accept ${side.label}`, String(number + 1), "one", [side.assessor]]),
      ...(all.length ? [["Union", "u", "union", all], ["Common text", "c", "intersection", all]] : []),
    ];
    const buttons = choices.map(([label, key, rule, of]) => {
      const button = Object.assign(element("button", "", `${label} `), { type: "button" });
      if (key.length < 2) button.append(element("kbd", "", key));
      button.dataset.rule = rule;
      button.dataset.of = of.join(" ");
      button.addEventListener("click", () => this.decide(rule, of));
      return button;
    });
    const edit = Object.assign(element("button", "", "Edit the decision "), { type: "button", id: "edit", title: "Where there is none yet, it starts from what is shown" });
    edit.append(element("kbd", "", "e"));
    edit.addEventListener("click", () => this.editDecision());
    byId("decisions").replaceChildren(...buttons, edit);
  }

  /** A column per assessor and one for the decision: where in the document highlights stand. */
  #map() {
    const sides = this.sides.map((side, number) => [side.highlights, `side-${number % 6}`, side.label]);
    const columns = this.compares ? sides : [...sides, [this.decided.highlights, "decision", "decision"]];
    byId("map").replaceChildren(...columns.map(([highlights, name, label]) => {
      const column = element("div", "map-column");
      column.dataset.label = label;
      column.addEventListener("click", (event) => {
        const { top, height } = column.getBoundingClientRect();
        this.#see(this.view.map.toUnit(Math.min(this.length - 1, Math.floor((this.length * (event.clientY - top)) / height))));
      });
      column.append(...highlights.map(([start, end]) => {
        const bar = element("i", `bar-mark ${name}`);
        bar.style.insetBlockStart = `${(100 * start) / this.length}%`;
        bar.style.blockSize = `max(2px, ${(100 * (end - start)) / this.length}%)`;
        return bar;
      }));
      return column;
    }));
  }

  accept(number) {
    const side = this.sides[number];
    if (side) this.decide("one", [side.assessor]);
  }

  async decide(rule, of, draft = false) {
    if (!of.length) return false;
    const values = { ...this.where, rule, of, draft, version: this.decided.version, token: newToken() };
    return this.#sent("/api/decide", values, (answer) => answer.decided);
  }

  async undo() {
    const values = { ...this.where, as: "adjudicated", edit: { kind: "undo" }, version: this.decided.version, token: newToken() };
    return this.#sent("/api/edit", values, (answer) => answer.state);
  }

  async #sent(path, values, taken) {
    const { status, answer } = await post(path, values).catch(() => ({ status: 0, answer: { error: "the server is away; nothing was decided" } }));
    if (status === 200) Object.assign(this, { decided: taken(answer), stale: [] });
    else if (answer.state) this.decided = answer.state;
    this.show();
    this.#map();
    if (status !== 200) notice(answer.error);
    else if (this.decided.status === "relevant" || this.decided.status === "not relevant") {
      notice(`Decided: ${this.decided.status}.`, "good", [["Next document (.)", () => byId("following").click()], ["Stay", hide]]);
    }
    return status === 200;
  }

  /** Go to the desk with the decision; a new one starts from what is shown: one assessor's judgement, or the union. */
  async editDecision() {
    const { shown } = this;
    const rule = shown.length > 1 ? "union" : "one";
    const begun = this.decided.version > 0 && this.decided.status !== "todo";
    if (!begun && !(await this.decide(rule, shown.map((side) => side.assessor), true))) return;
    location.assign(`/read?${new URLSearchParams({ ...this.where, as: "adjudicated" })}`);
  }

  showNext() {
    const inputs = [...document.querySelectorAll("input[name=side]")];
    const next = inputs[(inputs.findIndex((input) => input.checked) + 1) % inputs.length];
    next.checked = true;
    this.show();
  }

  /** Go to the next disagreement, or the one before; from the last on to the first. */
  go(step) {
    const { length } = this.differing;
    if (!length) return;
    this.at = this.at < 0 ? 0 : (this.at + step + length) % length;
    this.#see(this.view.map.toUnit(this.differing[this.at][0]));
    this.#tell();
  }

  #see(unit) {
    const block = this.view.blocks[this.view.blockAt(unit)];
    if (block.folded) this.metadata.toggle();
    block.node.scrollIntoView({ block: "nearest" }); // what was never laid out has no place yet
    const scroller = byId("scroller");
    const box = this.view.range(unit, Math.min(unit + 1, this.view.text.length)).getBoundingClientRect();
    const frame = scroller.getBoundingClientRect();
    scroller.scrollTop += box.top - frame.top - frame.height / 3;
  }

  toggleVersions() {
    byId("versions").hidden = !byId("versions").hidden;
    this.#tell();
  }

  /** Say which disagreement is looked at and who marked what; show it side by side if that is asked for. */
  #tell() {
    const { shown, differing } = this;
    const here = differing[this.at];
    const node = byId("disagreement");
    this.painter.set("here", here ? this.view.toUnits([here]) : [], 3);
    const marks = (side, [start, end]) => side.highlights.some(([a, b]) => a < end && b > start);
    const names = (sides) => sides.map((side) => side.label).join(", ");
    const points = new Set(shown.map((side) => side.entry_point));
    const entry = !differing.length && points.size > 1 ? " Their entry points differ." : "";
    if (!differing.length) node.textContent = shown.length > 1 ? `All highlighted the same text.${entry}` : "One assessor is shown alone.";
    else if (!here) node.textContent = `${differing.length} in all.`;
    else node.textContent = `${this.at + 1} of ${differing.length}: marked by ${names(shown.filter((side) => marks(side, here)))}, not by ${names(shown.filter((side) => !marks(side, here)))}.`;
    const versions = byId("versions");
    if (versions.hidden || !here) return versions.replaceChildren();
    const wanted = this.view.map.toUnit(Math.max(0, here[0] - AROUND));
    const from = wanted ? this.view.map.toCodePoint(Math.min(this.view.text.indexOf(" ", wanted) + 1, this.view.map.toUnit(here[0]))) : 0;
    const to = Math.min(this.length, here[1] + AROUND, from + LONGEST);
    const text = (start, end) => this.view.text.slice(this.view.map.toUnit(start), this.view.map.toUnit(end));
    return versions.replaceChildren(...shown.map((side) => {
      const column = element("section", "version");
      const words = element("p", "", from ? "… " : "");
      let at = from;
      for (const [start, end] of intersect(side.highlights, [[from, to]])) {
        words.append(text(at, start), element("mark", "relevant", text(start, end)));
        at = end;
      }
      words.append(text(at, to), to < this.length ? " …" : "");
      column.append(element("h2", `chip-title`, side.label), words);
      return column;
    }));
  }

  show() {
    const { shown } = this;
    const every = shown.map((side) => side.highlights);
    const shared = every.reduce(intersect);
    const some = shared.reduce((rest, [start, end]) => subtract(rest, start, end), merge(every.flat()));
    this.painter.set("relevant", this.view.toUnits(shared), 1);
    const alone = [];
    this.sides.forEach((side, number) => { // what one of several marked alone has their colour
      if (number > 5) return;
      const others = merge(shown.filter((other) => other !== side).flatMap((other) => other.highlights));
      const own = shown.includes(side) && shown.length > 1 ? others.reduce((rest, [start, end]) => subtract(rest, start, end), side.highlights) : [];
      this.painter.set(`only-${number}`, this.view.toUnits(own), 1);
      alone.push(...own);
    });
    this.painter.set("some", this.view.toUnits(alone.reduce((rest, [start, end]) => subtract(rest, start, end), some)), 0);
    this.differing = some.filter(([start, end]) => this.view.text.slice(this.view.map.toUnit(start), this.view.map.toUnit(end)).trim());
    this.at = Math.min(this.at, this.differing.length - 1);
    this.#tell();
    const { status, version, highlights } = this.decided;
    const decided = version && status !== "todo";
    Object.assign(byId("status"), { textContent: decided ? status : "undecided", className: `tag ${decided ? status.replaceAll(" ", "-") : ""}` });
    const stale = byId("stale");
    stale.hidden = !this.stale.length;
    stale.textContent = `stale: ${this.stale.join(", ")} changed since`;
    byId("saving").textContent = this.compares ? "" : decided ? `Saved: ${highlights.length} highlight${highlights.length === 1 ? "" : "s"}` : "Not decided yet";
  }
}

if (matchMedia("(max-width: 60rem)").matches) byId("topic-details").open = false;
const { topic, document: name, source } = byId("desk").dataset;
get(source, { topic, document: name }).then((loaded) => {
  if (loaded.sides.length < 1) {
    const decide = byId("decisions") ? [[loaded.decided.version ? "Edit the decision" : "Decide it yourself", () => location.assign(`/read?${new URLSearchParams({ topic, document: name, as: "adjudicated" })}`)]] : [];
    new Metadata(new TextView(byId("text"), loaded.document), () => {});
    byId("saving").textContent = "";
    byId("status").textContent = loaded.decided.version ? loaded.decided.status : "undecided";
    for (const id of ["moves", "sides", "decisions", "map"]) byId(id)?.closest(".panel").toggleAttribute("hidden", true);
    return notice("Nobody has finished this document yet.", "remark", [...decide, ["Close", hide]]);
  }
  window.adjudication = new Adjudication({ topic, document: name }, loaded);
  document.documentElement.dataset.ready = "yes";
  return null;
}).catch((error) => notice(`The document could not be shown: ${error.message}`));
