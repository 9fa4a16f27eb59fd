// The edits of one document on their way to the disk: one at a time, repeated until they are answered.

import { isIn } from "./foresee.js";
import { drop, isStored, list, newItem, put, sameDocument } from "./outbox.js";
import { post } from "./server.js";

const WAIT = [500, 1000, 2000, 5000, 10000];
const PATIENCE = 3; // how often a server may fail over one edit before the others go on without it

const LATER = new Set([401, 403, 408, 429, 502, 503, 504, 507]);

/**
 * Takes up whatever earlier pages left for the document.
 *
 * @param on  {saved(state, left), refused(message, left), held(items), changed(), troubled(message or ""),
 *            show(text, kind, title)}; all may be missing
 */
export class SaveQueue {
  constructor(where, version, on = {}) {
    Object.assign(this, { where, version, on, busy: false, failures: 0, refusals: 0, problem: "" });
    this.items = list().filter((item) => !item.held && sameDocument(item.where, where));
    addEventListener("online", () => this.#soon(0));
    addEventListener("beforeunload", (event) => {
      if (on.show && this.items.length) event.preventDefault();
    });
  }

  get pending() {
    return this.items.map((item) => item.edit);
  }

  push(edit) {
    const item = newItem(this.where, edit, this.items.length ? null : this.version);
    this.items.push(item);
    put(item);
    this.#show();
    this.#soon(0);
  }

  resume() {
    if (this.items.length) this.#soon(0);
    else this.#show();
  }

  /** Leave what waits to the pages that follow. */
  part() {
    clearTimeout(this.timer);
    this.items = [];
  }

  /** Settles when everything is on the disk, or answered otherwise; says once if the server is away. */
  async empty(away = () => {}) {
    let told = false;
    while (this.items.length) {
      if (this.failures && !told) away();
      told ||= this.failures > 0;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #soon(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#run(), delay);
  }

  async #run() {
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.items.length) {
        this.#show();
        const [item] = this.items;
        item.version ??= this.version;
        const { where, edit, version, token, made } = item;
        const age = made ? Date.now() - made : 0; // how long it has waited here
        const { status, answer } = await post("/api/edit", { ...where, edit, version, token, age });
        if (!this.#settle(item, status, answer)) break;
        this.failures = 0;
      }
    } catch {
      this.#later("");
    }
    this.busy = false;
    this.#show();
  }

  /** Take in an answer; false stops the run. */
  #settle(item, status, answer) {
    if (status === 200) return this.#saved(item, answer.state);
    if (status === 409) return this.#conflict(answer);
    if (LATER.has(status) || (status >= 500 && this.failures < PATIENCE)) {
      this.#later(answer.error);
      return false;
    }
    return this.#refused(item, status, answer.error);
  }

  #saved(item, state) {
    const next = this.items[1];
    if (next && next.version === null) {
      next.version = item.version + 1; // what another page did meanwhile is a conflict, not something to build on
      put(next);
    }
    this.version = state.version;
    this.#forget(item);
    if (this.problem) this.on.troubled?.("");
    this.problem = "";
    this.on.saved?.(state, this.items.length);
    return true;
  }

  /** What was made from another state than the server's waits for an answer, edit by edit. */
  #conflict({ state, error, changed }) {
    const there = state ? this.items.filter((item) => isIn(state, item.edit)) : [];
    there.forEach(drop);
    const held = this.items.filter((item) => !there.includes(item)).map((item) => ({ ...item, held: { why: "conflict", error } }));
    held.forEach(put);
    this.items = [];
    this.failures = 0;
    if (state) this.version = state.version;
    this.on.held?.(held, state);
    if (changed) this.on.changed?.(error);
    return false;
  }

  /** The rules' own refusals are told at once; what can never be stored waits until it is discarded. */
  #refused(item, status, error) {
    const next = this.items[1];
    if (next && next.version === null) {
      next.version = item.version;
      put(next);
    }
    this.refusals += 1;
    if (status === 422 && this.on.refused) {
      this.#forget(item);
      this.on.refused(error, this.items.length);
      return true;
    }
    const held = { ...item, held: { why: "refused", error } };
    put(held);
    this.items.shift();
    this.on.held?.([held], null);
    return true;
  }

  #forget(item) {
    drop(item);
    this.items.shift();
  }

  /** Try again after a while; a server that answers with a problem, a full disk for instance, is heard. */
  #later(problem) {
    if (problem !== this.problem) this.on.troubled?.(problem);
    this.problem = problem;
    this.failures += 1;
    this.#soon(WAIT[Math.min(this.failures, WAIT.length) - 1]);
  }

  #show() {
    const count = this.items.length;
    if (!count) this.on.show?.(this.version ? "Saved" : "Nothing to save yet", "saved");
    else if (this.failures) this.on.show?.(`${count} unsaved`, "unsaved", this.items.every(isStored) ? this.problem : "Do not close this page.");
    else this.on.show?.("Saving…", "saving");
  }
}
