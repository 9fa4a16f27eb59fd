// On every page: how many edits wait in this browser, and their delivery, whichever document they belong to.

import { list, sameDocument } from "./outbox.js";
import { SaveQueue } from "./queue.js";

const EVERY = 1000;
const desk = document.querySelector("[data-queue]")?.dataset;
const isOwn = (where) => desk && sameDocument(where, { topic: desk.topic, document: desk.document, as: desk.as || undefined });
const queues = [];

/** Begin to deliver what no queue of this page delivers yet. */
function deliver() {
  if (!document.body.dataset.user) return;
  for (const { where, held, version } of list()) {
    if (!held && !isOwn(where) && !queues.some((queue) => queue.items.length && sameDocument(queue.where, where))) {
      const queue = new SaveQueue(where, version);
      queues.push(queue);
      queue.resume();
    }
  }
}

function link({ topic, document: name, as }, text) {
  const values = new URLSearchParams({ topic, document: name, ...(as ? { as } : {}) });
  return Object.assign(document.createElement("a"), { href: `/read?${values}`, textContent: text });
}

function show() {
  const node = document.getElementById("waiting");
  const items = list();
  const waiting = items.filter((item) => !item.held && !isOwn(item.where));
  const held = items.filter((item) => item.held && !isOwn(item.where));
  const edits = (count) => `${count} edit${count === 1 ? "" : "s"}`;
  const known = Boolean(document.body.dataset.user);
  const pieces = waiting.length ? [`${edits(waiting.length)} wait${waiting.length === 1 ? "s" : ""} in this browser ${known ? "for the server" : "until you log in"}. `] : [];
  const documents = held.filter((item, k) => held.findIndex((other) => sameDocument(other.where, item.where)) === k);
  for (const { where } of known ? documents : []) {
    const count = held.filter((item) => sameDocument(item.where, where)).length;
    pieces.push(link(where, `${edits(count)} of ${where.document} need${count === 1 ? "s" : ""} your answer`), " ");
  }
  node.hidden = !pieces.length;
  const said = pieces.map((piece) => piece.href ?? piece).join("");
  if (node.dataset.said !== said) node.replaceChildren(...pieces);
  node.dataset.said = said;
}

function tick() {
  deliver();
  show();
}

if (!document.body.dataset.user) globalThis.caches?.delete("focuseval documents"); // who has logged out leaves no text behind
addEventListener("storage", tick);
setInterval(tick, EVERY);
tick();
