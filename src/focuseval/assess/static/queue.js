// Edits on their way to the disk: one at a time, repeated until they arrive, kept in this browser meanwhile.

const WAIT = [500, 1000, 2000, 5000, 10000];

export function newToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param send  (edit, version, token) → Promise of {status, answer}; rejects when the server is away
 * @param on    {saved(state), refused(message), conflict(state, edits), changed(message), troubled(message or ""),
 *              show(text, kind, title)}
 */
export class SaveQueue {
  constructor(send, storageKey, version, on) {
    Object.assign(this, { send, storageKey, version, on, items: [], busy: false, failures: 0, problem: "" });
    const kept = this.#stored();
    if (kept) {
      this.version = kept.version;
      this.items = kept.items;
    }
    addEventListener("online", () => this.#soon(0));
    addEventListener("beforeunload", (event) => {
      if (this.items.length) event.preventDefault();
    });
  }

  /** Edits that an earlier page could not deliver; they are sent before anything new. */
  get pending() {
    return this.items.map((item) => item.edit);
  }

  push(edit) {
    this.items.push({ edit, token: newToken() });
    this.#keep();
    this.#show();
    this.#soon(0);
  }

  resume() {
    if (this.items.length) this.#soon(0);
    else this.#show();
  }

  /** Settles when everything is on the disk. */
  async empty() {
    while (this.items.length) await new Promise((resolve) => setTimeout(resolve, 20));
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
        const { edit, token } = this.items[0];
        const { status, answer } = await this.send(edit, this.version, token);
        if (!this.#settle(status, answer)) break;
        this.failures = 0;
      }
    } catch {
      this.#later("");
    }
    this.busy = false;
    this.#show();
  }

  /** Take in an answer; false stops the run. */
  #settle(status, answer) {
    if (status === 200) {
      this.version = answer.state.version;
      this.items.shift();
      this.#keep();
      if (this.problem) this.on.troubled("");
      this.problem = "";
      this.on.saved(answer.state, this.items.length);
      return true;
    }
    if (status === 409 && answer.state) {
      const edits = this.pending;
      this.version = answer.state.version;
      this.#clear();
      this.on.conflict(answer.state, edits);
      return false;
    }
    if (answer.changed) {
      this.#clear();
      this.on.changed(answer.error);
      return false;
    }
    if (status === 422 || status === 400 || status === 413) {
      this.items.shift();
      this.#keep();
      this.on.refused(answer.error, this.items.length);
      return true;
    }
    this.#later(answer.error);
    return false;
  }

  /** Try again after a while; a server that answers with a problem, a full disk for instance, is heard. */
  #later(problem) {
    if (problem !== this.problem) this.on.troubled(problem);
    this.problem = problem;
    this.failures += 1;
    this.#soon(WAIT[Math.min(this.failures, WAIT.length) - 1]);
  }

  #clear() {
    this.items = [];
    this.failures = 0;
    this.#keep();
  }

  #show() {
    const count = this.items.length;
    if (!count) this.on.show(this.version ? "Saved" : "Nothing to save yet", "saved");
    else if (this.failures) this.on.show(`${count} unsaved`, "unsaved", this.problem);
    else this.on.show("Saving…", "saving");
  }

  #keep() {
    try {
      if (this.items.length) {
        localStorage.setItem(this.storageKey, JSON.stringify({ version: this.version, items: this.items }));
      } else localStorage.removeItem(this.storageKey);
    } catch {
      // A browser without storage still has the queue in memory, and warns before the page is left.
    }
  }

  #stored() {
    try {
      return JSON.parse(localStorage.getItem(this.storageKey) ?? "null");
    } catch {
      return null;
    }
  }
}
