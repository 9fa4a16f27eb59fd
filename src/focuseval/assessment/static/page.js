// Keys of the pages that show no document: on, to the search, and the list of keys.

import { helpInto, listen, offerLetters } from "./keys.js";

const go = document.querySelector(".title-line a.button.main");
const search = document.querySelector("main input[type=search]");
const ACTIONS = [
  ...(go ? [{ group: "Page", keys: ["."], name: go.textContent.trim().toLowerCase(), run: () => go.click() }] : []),
  ...(search ? [{ group: "Page", keys: ["/"], name: "to the search", run: () => search.focus() }] : []),
  { group: "Page", keys: ["?"], name: "these keys", run: (page) => page.help.showModal() },
  { group: "Everywhere", keys: ["Tab"], name: "to the next link, button or field", native: true },
  { group: "Everywhere", keys: ["Enter"], name: "follow the link, press the button", native: true },
];

listen({ help: document.getElementById("help") }, ACTIONS.filter((action) => !action.native));
helpInto(document.getElementById("keys"), ACTIONS);
offerLetters(document.getElementById("letters"));
