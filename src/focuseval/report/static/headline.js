// The verdict of the chosen pair under the chosen measure, and the pickers that choose them.
"use strict";
(() => {
  const { byId, count, data, node, option, visible } = focuseval;
  const { change, choices, defaults, listen, state } = focuseval.choice;
  const { carrying, otherOrder, topicRows, verdict, wins } = focuseval.scores;
  const { four, signed } = focuseval;
  const first = {};
  const name = (run) => visible(choices().runs[run]);

  /** Whether the page shows what it was made for. */
  const usual = () => {
    const wanted = defaults();
    return state.a === wanted.a && state.b === wanted.b && state.measure === wanted.measure;
  };

  const showVerdict = () => {
    const custom = !usual() && state.b >= 0;
    const { word, headline, reason } = custom ? verdict() : first;
    byId("verdict-block").className = `verdict ${word.replace(" ", "-")}`;
    byId("verdict-word").textContent = data("report-data").words[word].join(" ");
    byId("verdict").textContent = headline;
    byId("verdict-reason").textContent = reason;
    byId("verdict-caveat").textContent = custom ? otherOrder() : first.caveat;
    byId("verdict-back").hidden = !custom;
  };

  const difference = (row) => {
    const css = row.difference > 0 ? "up" : "down";
    const sign = row.difference ? node("span", { class: css }, row.difference > 0 ? "▲ " : "▼ ") : "";
    return [sign, signed(row.difference)];
  };

  /** Why A and B score 0 in a topic under the measure that decides, as Python says it: [["A", sentence], …]. */
  focuseval.whyZero = (topic) => {
    const [{ decides, zeros }, both] = [choices(), [["A", state.a], ["B", state.b]]];
    return state.measure === decides ? both.map(([side, run]) => [side, visible(zeros[run]?.[topic])]).filter(([, text]) => text) : [];
  };

  /** A row of a table of topics. */
  focuseval.topicLine = (row, extra = [], addressOf = undefined) => {
    const cells = [node("td", { class: "number" }, four(row.a))];
    if (row.b !== null) cells.push(node("td", { class: "number" }, four(row.b)), node("td", { class: "number" }, ...difference(row)));
    const why = focuseval.whyZero(row.topic).map(([side, text]) => node("small", { class: "why" }, row.b === null ? text : `${side}: ${text}`));
    return node("tr", {}, node("th", { scope: "row" }, ...focuseval.topicLink(row.topic, addressOf), ...why), ...extra, ...cells);
  };

  const showDeciding = () => {
    const card = byId("deciding");
    if (!card) return;
    const rows = topicRows();
    const body = state.b < 0 ? [...rows].sort((x, y) => x.a - y.a).slice(0, 6) : carrying(rows);
    card.querySelector("tbody").replaceChildren(...body.map((row) => {
      const line = focuseval.topicLine(row);
      if (row.alike > 1) line.firstChild.append(" ", node("small", {}, `and ${count(row.alike - 1)} more with this difference`));
      return line;
    }));
    const heads = card.querySelectorAll("thead th");
    if (heads.length > 3) {
      heads[1].replaceChildren("A ", node("small", {}, node("bdi", {}, name(state.a))));
      heads[2].replaceChildren("B ", node("small", {}, node("bdi", {}, state.b < 0 ? "none" : name(state.b))));
    }
    byId("carried").textContent = wins();
  };

  /** Mark A and B in the table of runs. */
  const showRoles = () => {
    for (const place of document.querySelectorAll("[data-run]")) {
      const run = Number(place.dataset.run);
      const role = run < 0 ? "" : run === state.a ? "A" : run === state.b ? "B" : "";
      place.replaceChildren(...(role ? [node("span", { class: `role ${role.toLowerCase()}` }, role), " "] : []));
    }
  };

  /** Say at the top which parts of an address are not in this report; what it shows is then its usual self. */
  focuseval.refuse = (unknown) => {
    const said = unknown.map(([key, text]) => `${{ a: "Run", b: "Run", measure: "Measure", topic: "Topic" }[key]} ${visible(text)} is not in this report.`);
    byId("notice").textContent = said.length ? `${said.join(" ")} The rest of the link was followed.` : "";
    byId("notice").hidden = !said.length;
    if (said.length) byId("notice").scrollIntoView();
  };

  const settle = () => {
    byId("pick-a").value = String(state.a);
    byId("pick-b").value = String(state.b);
    byId("pick-measure").value = String(state.measure);
  };

  const show = () => {
    settle();
    showVerdict();
    showDeciding();
    showRoles();
  };

  focuseval.startHeadline = () => {
    const { measures, runs } = choices();
    Object.assign(first, { word: byId("verdict-block").dataset.word, headline: byId("verdict").textContent, reason: byId("verdict-reason").textContent, caveat: byId("verdict-caveat").textContent });
    byId("pick-a").replaceChildren(...runs.map((text, i) => option(i, text)));
    byId("pick-b").replaceChildren(option(-1, "none"), ...runs.map((text, i) => option(i, text)));
    byId("pick-measure").replaceChildren(...measures.map((text, i) => option(i, i === choices().decides ? `${text} (decides)` : text)));
    byId("chooser").hidden = false;
    for (const [id, key] of [["pick-a", "a"], ["pick-b", "b"], ["pick-measure", "measure"]]) {
      byId(id).addEventListener("change", (event) => {
        const [chosen, other] = [Number(event.target.value), { a: "b", b: "a" }[key]];
        change(other && chosen === state[other] && state.b >= 0 ? { a: state.b, b: state.a } : { [key]: chosen }); // who chooses the other run swaps the two
      });
    }
    byId("swap").addEventListener("click", () => state.b >= 0 && change({ a: state.b, b: state.a }));
    byId("verdict-back").addEventListener("click", () => {
      const { a, b, measure } = defaults();
      change({ a, b, measure });
    });
    listen((changed) => ["a", "b", "measure"].some((key) => changed.has(key)) && show());
    show();
  };
})();
