// Edits that are not on the disk yet. Each is an entry of its own in this browser's storage: pages share the list, and
// none can overwrite what another put there. An entry stays until it is saved, answered or discarded.

const { project = "", user = "" } = document.body.dataset;
const page = `${Date.now().toString(36).padStart(9, "0")}-${newToken().slice(0, 8)}`;
const unstored = new Map(); // what a browser without storage, or with a full one, holds for this page alone
let count = 0;

export function newToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What names a document: topic, id, and whether its adjudicated judgement is meant. */
export const sameDocument = (one, other) => one.topic === other.topic && one.document === other.document && one.as === other.as;

function storageKey(item) {
  return JSON.stringify(["focuseval", project, item.user, item.id]);
}

function parsed(key, value) {
  try {
    const [name, whose] = JSON.parse(key);
    return name === "focuseval" && whose === project ? JSON.parse(value) : null;
  } catch {
    return null;
  }
}

/** A new entry; `version` is null for an edit that follows another one of the same page. */
export function newItem(where, edit, version) {
  count += 1;
  return { id: `${page}-${String(count).padStart(6, "0")}`, user, where, edit, version, token: newToken(), made: Date.now() };
}

/** Keep an entry as it is now; false if it lives in this page's memory alone. */
export function put(item) {
  try {
    localStorage.setItem(storageKey(item), JSON.stringify(item));
    unstored.delete(item.id);
    return true;
  } catch {
    unstored.set(item.id, item);
    return false;
  }
}

export function drop(item) {
  unstored.delete(item.id);
  try {
    localStorage.removeItem(storageKey(item));
  } catch {
    // a browser without storage
  }
}

/** Every entry of this project and user, in the order in which pages made them; of all users where none is known. */
export function list() {
  const found = [...unstored.values()];
  try {
    for (let k = 0; k < localStorage.length; k += 1) {
      const key = localStorage.key(k);
      const item = key.startsWith('["focuseval"') ? parsed(key, localStorage.getItem(key)) : null;
      if (item && (item.user === user || !user)) found.push(item);
    }
  } catch {
    // a browser without storage
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export const isStored = (item) => !unstored.has(item.id);
