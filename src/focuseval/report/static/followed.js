// Rows and names of the graphs that follow the chosen pair and measure.
"use strict";
(() => {
  const { choices, state } = focuseval.choice;
  const { counts, pair, topicRows, valuesOf } = focuseval.scores;

  const measure = () => choices().measures[state.measure];

  /** The runs that a graph draws, in its order. */
  const runs = (chart) => chart.form.runs.map((name) => ({ name, run: choices().runs.indexOf(name) })).filter(({ run }) => run >= 0);

  focuseval.followed = {
    means: (chart) => ({
      names: { ...chart.form.names, measure: measure() },
      rows: runs(chart).map(({ name, run }) => [name, ...choices().means[state.measure][run]]).filter((row) => row[1] !== null),
    }),

    differences: () => {
      const { topics, runs: labels } = choices();
      const [a, b] = [labels[state.a], labels[state.b] ?? "none"];
      const rows = topicRows();
      const told = Object.fromEntries(Object.entries(counts(rows)).map(([name, number]) => [name, focuseval.count(number)]));
      return {
        names: { a, b, measure: measure(), ...told },
        rows: rows.map((row) => [topics[row.topic], row.a, row.b, row.difference, row.difference >= 0 ? a : b]),
      };
    },

    values: (chart) => ({
      names: { measure: measure() },
      rows: runs(chart).flatMap(({ name, run }) => valuesOf(run).map((value, topic) => [name, choices().topics[topic], value]).filter((row) => row[2] !== null)),
    }),

    stars: (chart) => ({
      names: { measure: measure(), method: choices().methods[state.measure] || "not tested in this report" },
      rows: runs(chart).flatMap((one) => runs(chart).map((other) => {
        const better = one.run !== other.run && pair(one.run, other.run)?.code === 1;
        const kind = one.run === other.run ? "itself" : better ? "better" : "no";
        return [measure(), one.name, other.name, { itself: "·", better: "★", no: "" }[kind], kind];
      })),
    }),
  };
})();
