// The adjudication page: every assessor's highlights beside each other, and one decision.

import { notice } from "./notice.js";
import { createPainter } from "./paint.js";
import { lettersWork } from "./keys.js";
import { newToken } from "./outbox.js";
import { get, post } from "./server.js";
import { counter, intersect, merge, subtract } from "./spans.js";
import { findTerms } from "./terms.js";
import { TextView } from "./textview.js";

const byId = (id) => document.getElementById(id);
const element = (tag, className, text) => Object.assign(document.createElement(tag), { className, textContent: text ?? "" });

class Adjudication {
  constructor(where, loaded) {
    Object.assign(this, { where, sides: loaded.sides, decided: loaded.decided, stale: loaded.stale });
    this.compares = byId("desk").dataset.source === "/api/training"; // one's own judgement with the known answer
    this.taking = new Set(loaded.sides.filter((side) => !side.imported).map((side) => side.assessor));
    this.view = new TextView(byId("text"), loaded.document);
    this.painter = createPainter(this.view);
    this.painter.set("term", findTerms(this.view.text, JSON.parse(byId("desk").dataset.terms)), 2);
    this.length = this.view.map.toCodePoint(this.view.text.length);
    this.#stripes();
    this.#list();
    this.#buttons();
    this.#map();
    this.show();
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
    label.append(input, element("span", className), element("strong", "", name), element("span", "told", told));
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
    });
    label.append(box, " takes part");
    return label;
  }

  #buttons() {
    if (!byId("decisions")) return;
    const all = this.sides.map((side) => side.assessor).filter((name) => this.taking.has(name));
    const choices = [
      ...this.sides.map((side) => [`Accept ${side.label}`, "one", [side.assessor]]),
      ...(all.length ? [["Union", "union", all], ["Intersection", "intersection", all]] : []),
    ];
    byId("decisions").replaceChildren(...choices.map(([label, rule, of]) => {
      const button = Object.assign(element("button", "", label), { type: "button" });
      button.dataset.rule = rule;
      button.dataset.of = of.join(" ");
      button.addEventListener("click", () => this.decide(rule, of));
      return button;
    }));
  }

  /** A column per assessor and one for the decision: where in the document highlights stand. */
  #map() {
    const sides = this.sides.map((side, number) => [side.highlights, `side-${number % 6}`, side.label]);
    const columns = this.compares ? sides : [...sides, [this.decided.highlights, "decision", "decision"]];
    byId("map").replaceChildren(...columns.map(([highlights, name, label]) => {
      const column = element("div", "map-column");
      column.dataset.label = label;
      column.append(...highlights.map(([start, end]) => {
        const bar = element("i", `bar-mark ${name}`);
        bar.style.insetBlockStart = `${(100 * start) / this.length}%`;
        bar.style.blockSize = `max(2px, ${(100 * (end - start)) / this.length}%)`;
        return bar;
      }));
      return column;
    }));
  }

  async decide(rule, of) {
    const values = { ...this.where, rule, of, version: this.decided.version, token: newToken() };
    const { status, answer } = await post("/api/decide", values).catch(() => ({ status: 0, answer: { error: "the server is away; nothing was decided" } }));
    if (status === 200) Object.assign(this, { decided: answer.decided, stale: [] });
    else if (answer.state) this.decided = answer.state;
    if (status !== 200) notice(answer.error);
    this.show();
    this.#map();
  }

  show() {
    const chosen = document.querySelector("input[name=side]:checked").value;
    const shown = chosen === "all" ? this.sides : [this.sides[Number(chosen)]];
    const every = shown.map((side) => side.highlights);
    const shared = every.reduce(intersect);
    const some = shared.reduce((rest, [start, end]) => subtract(rest, start, end), merge(every.flat()));
    this.painter.set("relevant", this.view.toUnits(shared), 1);
    this.painter.set("some", this.view.toUnits(some), 0);
    const { status, version, highlights } = this.decided;
    Object.assign(byId("status"), { textContent: version ? status : "undecided", className: `tag ${version ? status.replaceAll(" ", "-") : ""}` });
    const stale = byId("stale");
    stale.hidden = !this.stale.length;
    stale.textContent = `stale: ${this.stale.join(", ")} changed since`;
    byId("saving").textContent = this.compares ? "" : version ? `Saved: ${highlights.length} highlight${highlights.length === 1 ? "" : "s"}` : "Not decided yet";
  }
}

if (matchMedia("(max-width: 60rem)").matches) byId("topic-details").open = false;
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select");
  if (event.key === "." && !typing && lettersWork() && !event.ctrlKey && !event.metaKey && !event.altKey) byId("following").click();
});
const { topic, document: name, source } = byId("desk").dataset;
get(source, { topic, document: name }).then((loaded) => {
  if (loaded.sides.length < 1) return notice("Nobody has finished this document yet.");
  window.adjudication = new Adjudication({ topic, document: name }, loaded);
  document.documentElement.dataset.ready = "yes";
  return null;
}).catch((error) => notice(`The document could not be shown: ${error.message}`));
