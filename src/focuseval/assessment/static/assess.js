// The assessing page: what was loaded, what the assessor does, what is shown of it.

import { showBoundaries } from "./boundaries.js";
import { hideBubble, showBubble } from "./bubble.js";
import { asProposed, offerText } from "./changed.js";
import { Cursor } from "./cursor.js";
import { Elements } from "./elements.js";
import { startFind } from "./find.js";
import { foresee } from "./foresee.js";
import { showHeld } from "./held.js";
import { ACTIONS, buttonsInto, helpInto, leaveBy, listen, offerLetters } from "./keys.js";
import { Metadata } from "./metadata.js";
import { snapped, trimmed } from "./moves.js";
import { hide, notice } from "./notice.js";
import { isKept, keepUpcoming } from "./offline.js";
import { Outline } from "./outline.js";
import { PageLayer } from "./pagelayer.js";
import { createPainter } from "./paint.js";
import { showChain, showGrades, showPairs, showPooled, showSpecificity, showStatus } from "./panel.js";
import { SaveQueue } from "./queue.js";
import { reopens, tellReopened } from "./reopened.js";
import { Scrolling } from "./scrolling.js";
import { get } from "./server.js";
import { around, subtract } from "./spans.js";
import { findTerms } from "./terms.js";
import { TextView } from "./textview.js";

const byId = (id) => document.getElementById(id);
const PLAIN = "focuseval plain text of PDFs";

function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // a browser without storage forgets it
  }
}

class Desk {
  constructor(data, loaded) {
    this.data = data;
    this.where = { topic: data.topic, document: data.document, ...(data.as ? { as: data.as } : {}) };
    this.scale = loaded.scale;
    this.grades = loaded.grades;
    this.snap = loaded.snap;
    this.state = loaded.changed ? asProposed(loaded) : loaded.state;
    this.view = new TextView(byId("text"), loaded.document);
    this.elements = new Elements(loaded.document.elements);
    const marks = new URLSearchParams(location.search).has("marks");
    this.painter = createPainter(this.view, marks ? { marks } : {});
    this.note = byId("note");
    this.help = byId("help");
    this.cursor = new Cursor(this.view, this.elements, {
      scroller: byId("scroller"),
      caretNode: byId("caret"),
      onmove: () => this.showPlace(),
    });
    byId("place").hidden = byId("specific").hidden = this.onElements; // shares of highlighted text
    if (this.onElements) byId("panels").querySelector("summary").textContent = "Grades and note";
    this.terms = findTerms(this.view.text, JSON.parse(data.terms));
    this.painter.set("term", this.terms, 1);
    [this.suggester, this.suggested] = loaded.suggested ?? ["", []];
    this.pooled = loaded.pooled;
    if (this.pooled.length) showPooled(this);
    this.metadata = new Metadata(this.view, () => {
      this.#settle();
      this.showEntry();
    });
    this.#settle();
    this.outline = new Outline(this.view, (unit) => this.goTo(unit));
    startFind(this);
    this.scrolling = new Scrolling(this.view, byId("scroller"), this.cursor);
    this.#paged(loaded.pages);
    this.#listen();
    this.#queue(loaded);
    this.show();
    if (this.suggester) byId("suggested").hidden = false;
    if (loaded.changed) offerText(this, loaded.changed);
  }

  /** A PDF is shown as it looks, unless somebody likes its plain text better, or the browser cannot paint on it. */
  #paged(pages) {
    if (!pages || !this.painter.refresh) return;
    const onlayout = () => {
      this.cursor.draw();
      if (this.state) this.showEntry();
    };
    this.pages = new PageLayer(this.view, pages, this.painter, { where: this.where, scroller: byId("scroller"), onlayout });
    if (remembered(PLAIN) !== "yes") this.pages.show(true);
  }

  togglePages() {
    if (!this.pages) {
      notice("This document has no pages to show.", "remark");
      return;
    }
    hideBubble(); // what it stands beside moves
    this.pages.show(!this.pages.shown);
    remember(PLAIN, this.pages.shown ? "no" : "yes");
    if (this.cursor.started) this.cursor.select(this.cursor.anchor, this.cursor.caret);
  }

  #queue(loaded) {
    this.queue = new SaveQueue(this.where, loaded.state.version, {
      saved: (state, left) => this.#settled(state, left),
      refused: (message, left) => this.#refused(message, left),
      held: (items, state) => this.#held(state),
      changed: () => location.reload(),
      troubled: (message) => (message ? notice(`Not saved: ${message}. Your edits wait in this browser.`) : hide()),
      show: (text, kind, title) => Object.assign(byId("saving"), { textContent: text, className: `saving ${kind}`, title: title ?? "" }),
    });
    this.state = this.queue.pending.reduce(foresee, this.state);
    this.queue.resume();
    showHeld(this);
  }

  #listen() {
    const has = ({ suggested, drafted }) => (!suggested || this.suggested.length > 0) && (!drafted || byId("draft"));
    const fits = (action) => (!action.scales || action.scales.includes(this.scale)) && has(action);
    const actions = ACTIONS.filter(fits);
    listen(this, actions);
    helpInto(byId("keys"), actions);
    offerLetters(byId("letters"));
    const withButton = actions.filter((action) => action.button && (!action.paged || this.pages));
    buttonsInto(byId("actions"), this, withButton.filter((action) => action.group !== "Move"));
    buttonsInto(byId("actions"), this, withButton.filter((action) => action.group === "Move"));
    buttonsInto(byId("bubble"), this, actions.filter((action) => action.bubble));
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width !== this.width) this.showEntry();
      this.width = contentRect.width;
    }).observe(byId("text"));
    byId("text").addEventListener("mouseup", () => setTimeout(() => this.#selected(), 0));
    byId("text").addEventListener("pointerdown", (event) => (this.touching = event.pointerType !== "mouse"));
    document.addEventListener("selectionchange", () => {
      clearTimeout(this.touchTimer); // fingers move the ends of a selection, and no mouse button comes up
      if (this.touching) this.touchTimer = setTimeout(() => this.#selected(), 300);
    });
    byId("scroller").addEventListener("scroll", hideBubble, { passive: true });
    this.note.addEventListener("input", () => {
      clearTimeout(this.noteTimer);
      this.noteTimer = setTimeout(() => this.saveNote(), 800);
    });
    this.note.addEventListener("blur", () => this.saveNote());
    for (const link of [byId("previous"), byId("following")]) leaveBy(this, link);
    this.note.addEventListener("keydown", (event) => {
      if (event.key === "Escape") byId("text").focus();
    });
  }

  /** The caret stands in text that is shown. */
  #settle() {
    const { blocks } = this.view;
    if (blocks.length && blocks[this.cursor.block].folded) this.cursor.rest(blocks.find((block) => !block.folded && block.kind !== "gap").start);
  }

  // --- edits

  edit(edit) {
    const before = this.state;
    this.state = foresee(before, edit);
    this.queue.push(edit);
    this.show();
    const reopened = reopens(before, this.state, edit);
    const goesOn = this.reopened && edit.kind === "note"; // a note is saved while it is typed: the remark stays
    if (reopened) tellReopened(this, edit);
    else if (!goesOn && !this.queue.problem) hide();
    this.reopened = reopened || goesOn;
  }

  mark(kind, start, end) {
    const [from, to] = [this.view.map.toCodePoint(start), this.view.map.toCodePoint(end)];
    const quote = this.view.text.slice(this.view.map.toUnit(from), this.view.map.toUnit(to));
    if (from < to) this.edit({ kind, start: from, end: to, quote });
  }

  highlight() {
    if (this.cursor.collapsed) return this.highlightElement();
    const span = this.pointed ? snapped(this.view, ...this.cursor.span, this.snap) : trimmed(this.view, ...this.cursor.span);
    this.mark("highlight", ...span);
    return this.clear();
  }

  highlightElement() {
    if (this.cursor.collapsed) this.cursor.grow();
    if (this.cursor.collapsed) return;
    this.mark("highlight", ...this.cursor.span);
    this.clear();
  }

  unhighlight() {
    const position = this.view.map.toCodePoint(this.cursor.caret);
    const here = this.cursor.collapsed ? around(this.state.highlights, position) : null;
    const span = here ? this.view.toUnits([here])[0] : this.cursor.span;
    this.mark("unhighlight", ...span);
    this.clear();
  }

  /** What is suggested and neither highlighted nor waved away. */
  get open() {
    return this.state.highlights.reduce((left, [start, end]) => subtract(left, start, end), this.suggested);
  }

  /** Take the suggestion at the caret, or else the next one; or wave it away. The caret goes on to the one after it. */
  suggestion(taken) {
    const here = this.view.map.toCodePoint(this.cursor.caret);
    const span = this.open.find(([, end]) => end > here) ?? this.open[0];
    if (!span) {
      notice("Nothing more is suggested.", "remark");
      return;
    }
    if (taken) this.mark("highlight", ...this.view.toUnits([span])[0]);
    else this.suggested = subtract(this.suggested, ...span);
    this.show();
    const [next] = [...this.open.filter(([start]) => start >= span[1]), ...this.open];
    this.cursor.go(this.view.map.toUnit((next ?? span)[0]));
  }

  takeAll() {
    for (const span of this.open) this.mark("highlight", ...this.view.toUnits([span])[0]);
  }

  setEntry() {
    this.edit({ kind: "entry", position: this.view.map.toCodePoint(this.cursor.span[0]) });
    this.clear();
  }

  async finish(relevant) {
    this.saveNote(); // a note after it would open the document again
    this.edit({ kind: "finish", relevant });
    const word = relevant ? "relevant" : "not relevant";
    await this.queue.empty(() => notice(`The server is away. “Done: ${word}” waits in this browser, and is saved as soon as the server is back.`, "remark"));
    if (this.state.status === (relevant ? "relevant" : "not relevant")) this.#offerNext();
  }

  async skip() {
    this.saveNote();
    this.edit({ kind: "skip" });
    await this.next();
  }

  /** Whether elements are graded by themselves, as from 2002 to 2004, and nothing is highlighted. */
  get onElements() {
    return this.grades[0]?.length === 2;
  }

  get here() {
    const [start, end] = this.cursor.span.map(this.view.map.toCodePoint);
    return this.elements.path[this.elements.chain(start, Math.max(end, start + 1))[0]];
  }

  grade(grade, path = this.here) {
    this.half = null;
    if (path !== undefined) this.edit({ kind: "grade", paths: [path], grade });
  }

  /** The first key is the first half of a pair of grades, the second key the other half. */
  gradePair(key) {
    const path = this.here;
    if (this.half?.path !== path) {
      this.half = { path, key };
      const other = this.scale === "coverage" ? "coverage: 1 too large, 2 too small, 3 exact" : "specificity: 1, 2 or 3";
      notice(`${path}: ${this.scale === "coverage" ? "relevance" : "exhaustivity"} ${key}; now its ${other}.`, "remark");
      return;
    }
    const pair = this.half.key + (this.scale === "coverage" ? "NLSE"[key] : key);
    if (this.grades.includes(pair)) this.grade(pair);
    else notice(`The scale has no ${pair}.`);
    this.half = null;
  }

  editQuestion() {
    byId("topic-details").open = byId("draft").open = true;
    byId("draft").querySelector("textarea").focus();
  }

  writeNote() {
    byId("panels").open = true;
    this.note.focus();
    this.note.scrollIntoView({ block: "nearest" });
  }

  /** Save what was typed, if anything was; true if that opened a finished document. */
  saveNote() {
    clearTimeout(this.noteTimer);
    if (this.note.value === this.state.note) return false;
    const told = this.reopened;
    this.edit({ kind: "note", text: this.note.value });
    return this.reopened && !told;
  }

  // --- answers

  #settled(state, left) {
    if (left) return;
    this.state = state;
    this.show();
  }

  #refused(message, left) {
    notice(message);
    if (!left) get("/api/state", this.where).then(({ state }) => this.#settled(state, this.queue.items.length));
  }

  /** Some edits wait for an answer; what they would have led to is not shown. */
  #held(state) {
    showHeld(this);
    if (state) this.#settled(state, this.queue.items.length);
    else get("/api/state", this.where).then(({ state: newest }) => this.#settled(newest, this.queue.items.length));
  }

  // --- what is shown

  show() {
    const spans = this.view.toUnits(this.onElements ? this.elements.innermost(this.state.grades) : this.state.highlights);
    this.painter.set("relevant", spans, 0);
    this.painter.set("suggested", this.view.toUnits(this.open), 2);
    byId("suggested").textContent = `${this.open.length || (this.suggested.length ? "no more" : "nothing")} suggested by ${this.suggester}`;
    this.view.describe(spans);
    this.metadata.reveal(spans);
    showStatus(this.state, this.data);
    if (document.activeElement !== this.note) this.note.value = this.state.note;
    this.sizes = this.elements.sizes(this.state.highlights);
    this.showEntry();
    this.showPlace();
    clearTimeout(this.panelTimer);
    this.panelTimer = setTimeout(() => this.#showPanel(), 30); // the highlight itself is painted first
  }

  #showPanel() {
    showSpecificity(this, this.sizes);
    byId("grading").hidden = !this.grades.length;
    if (this.onElements) showPairs(this);
    else if (this.grades.length) showGrades(this, this.sizes);
  }

  showPlace() {
    const start = this.view.map.toCodePoint(this.cursor.span[0]);
    showChain(this, this.elements.chain(start), this.sizes);
    document.querySelector(".block.here")?.classList.remove("here");
    if (this.cursor.started) this.view.blocks[this.cursor.block].node.classList.add("here");
    if (this.cursor.collapsed) hideBubble();
    if (this.half && this.half.path !== this.here) {
      this.half = null;
      hide();
    }
    if (this.onElements) showPairs(this);
  }

  showEntry() {
    cancelAnimationFrame(this.entryFrame);
    this.entryFrame = requestAnimationFrame(() => {
      const node = byId("entry");
      node.hidden = this.state.entry_point === null;
      if (!node.hidden) this.view.pin(node, this.view.map.toUnit(this.state.entry_point));
    });
  }

  /** What was selected by mouse or finger is extended to whole words or sentences, as the project has it. */
  #selected() {
    if (this.cursor.collapsed) return;
    this.pointed = true;
    if (!this.touching) this.cursor.select(...snapped(this.view, ...this.cursor.span, this.snap), { show: false });
    if (this.marker) this.highlight();
    else showBubble(this.view.range(...this.cursor.span));
  }

  clear() {
    hideBubble();
    this.half = null;
    this.pointed = false;
    this.cursor.go(this.cursor.span[0], { show: false });
  }

  toggleMarker() {
    this.marker = !this.marker;
    notice(this.marker ? "Whatever you select with the mouse is highlighted at once." : "The mouse only selects.", "good");
  }

  toggleElements() {
    this.withElements = !this.withElements;
    showBoundaries(this, this.withElements);
  }

  /** The next part that a run returned, from the caret on. */
  toPooled() {
    const here = this.view.map.toCodePoint(this.cursor.span[0]);
    const next = this.pooled.find(([start]) => start > here || (start === here && !this.cursor.started)) ?? this.pooled[0];
    if (next) this.selectSpan(next);
    else notice("No part that a run returned is shown in this document.", "remark");
  }

  toHighlight() {
    const here = this.view.map.toCodePoint(this.cursor.caret);
    const spans = this.state.highlights;
    const next = spans.find(([start]) => start > here) ?? spans[0];
    if (next) this.cursor.go(this.view.map.toUnit(next[0]));
  }

  goTo(unit) {
    this.cursor.go(unit);
    byId("text").focus({ preventScroll: true });
  }

  toTerm(step) {
    const { caret } = this.cursor;
    const seen = this.terms.filter(([start]) => !this.view.blocks[this.view.blockAt(start)].folded);
    const next = step > 0
      ? seen.find(([start]) => start > caret || (start === caret && !this.cursor.started)) ?? seen[0]
      : seen.findLast(([start]) => start < caret) ?? seen.at(-1);
    if (next) this.cursor.go(next[0]);
    else notice("The text has none of the topic’s words.", "remark");
  }

  toHeading(step) {
    const unit = this.outline.next(this.cursor.started ? this.cursor.caret : -1, step);
    if (unit !== null) this.cursor.go(unit);
  }

  toggleOutline() {
    const outline = byId("outline");
    if (outline.hidden) return;
    byId("topic-details").closest("aside").scrollTop = 0;
    outline.open = !outline.open;
    if (outline.open) outline.querySelector("button")?.focus();
  }

  selectElement(row) {
    this.selectSpan([this.elements.start[row], this.elements.end[row]]);
  }

  selectSpan([start, end]) {
    this.cursor.select(...this.view.toUnits([[start, end]])[0]);
    byId("text").focus({ preventScroll: true });
  }

  #offerNext() {
    notice(`Done: ${this.state.status}.`, "good", [["Next undone (.)", () => this.next()], ["Stay", hide]]);
  }

  async next() {
    this.leave(`/next?${new URLSearchParams(this.where)}`);
  }

  async leave(address) {
    if (!address || this.saveNote()) return; // who leaves is told first that their note reopened the document
    const { refusals } = this.queue;
    await this.queue.empty(() => {
      if (isKept()) this.queue.part(); // every page delivers what waits
      else notice("The server is away: the next document comes when it is back. Your edits wait in this browser, also if you close it.", "remark");
    });
    if (this.queue.refusals === refusals) location.assign(address); // else the refusal is what there is to see
  }
}

async function start() {
  const { dataset } = byId("desk");
  const where = { topic: dataset.topic, document: dataset.document, ...(dataset.as ? { as: dataset.as } : {}) };
  try {
    window.desk = new Desk(dataset, await get("/api/document", where));
    byId("text").focus({ preventScroll: true });
    requestAnimationFrame(() => setTimeout(() => {
      performance.mark("ready");
      document.documentElement.dataset.ready = "yes";
      keepUpcoming(where).catch(() => {}); // the server is away, or the browser keeps nothing
    }, 0));
  } catch (error) {
    notice(`The document could not be shown: ${error.message}`);
    throw error;
  }
}

if (matchMedia("(max-width: 60rem)").matches) {
  byId("topic-details").open = false;
  byId("panels").open = false;
}
start();
