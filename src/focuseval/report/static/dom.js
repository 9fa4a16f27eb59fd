// Small things that every other script uses. Text reaches the page as text, never as markup.
"use strict";
const focuseval = {};

focuseval.byId = (id) => document.getElementById(id);

/** The JSON in a script element, parsed once. */
focuseval.data = (() => {
  const parsed = new Map();
  return (id) => {
    if (!parsed.has(id)) parsed.set(id, JSON.parse(focuseval.byId(id).textContent));
    return parsed.get(id);
  };
})();

/** An element with attributes and children; strings become text nodes. */
focuseval.node = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

/** An option of a picker. */
focuseval.option = (value, text) => focuseval.node("option", { value }, focuseval.visible(text));

focuseval.CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

const spelled = (found) => `⟨U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** A name in which characters that change the direction of others are spelt out. */
focuseval.visible = (text) => String(text ?? "").replace(focuseval.CONTROLS, spelled);

/** Append text to an element; control characters stand in boxes of their own and have no effect. */
focuseval.appendText = (parent, text) => {
  let last = 0;
  for (const found of text.matchAll(focuseval.CONTROLS)) {
    if (found.index > last) parent.append(text.slice(last, found.index));
    parent.append(focuseval.node("span", { class: "control" }, spelled(found[0])));
    last = found.index + 1;
  }
  if (last < text.length) parent.append(last ? text.slice(last) : text);
};

/** A number with four digits behind the point, as Python prints it: only odd 32nds lie halfway between two, and go to the even one. */
focuseval.four = (value) => {
  const tie = Number.isInteger(value * 32) && !Number.isInteger(value * 16);
  return (tie ? (2 * Math.round(value * 5000)) / 10000 : value).toFixed(4);
};

/** A difference with its sign, a minus as long as a plus; what rounds to nothing has a plus. */
focuseval.signed = (value) => {
  const shown = focuseval.four(Math.abs(value));
  return `${value < 0 && Number(shown) ? "−" : "+"}${shown}`;
};

focuseval.count = (number) => number.toLocaleString("en");

focuseval.percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");

/** A cell's text: numbers with up to four digits behind the point. */
focuseval.cell = (value) => {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return focuseval.visible(value);
  return Number.isInteger(value) ? focuseval.count(value) : focuseval.four(value);
};

/** Let the browser paint before going on. */
focuseval.pause = () => new Promise((go) => setTimeout(go, 0));
