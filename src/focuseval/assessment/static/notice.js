// One line above the text when something needs a decision, with its buttons.

const node = () => document.getElementById("notice");

export function hide() {
  node().hidden = true;
}

/** @param buttons [[label, function], …] */
export function notice(message, kind = "problem", buttons = [["Close", hide]], details = []) {
  const paragraph = Object.assign(document.createElement("p"), { textContent: message });
  const row = Object.assign(document.createElement("div"), { className: "row" });
  for (const [label, run] of buttons) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: label });
    button.addEventListener("click", () => {
      hide();
      run();
    });
    row.append(button);
  }
  const shown = details.map((text) => Object.assign(document.createElement("pre"), { textContent: text }));
  node().className = `notice ${kind}`;
  node().replaceChildren(paragraph, ...shown, row);
  node().hidden = false;
}
