// Rows and names of the graphs that follow the chosen pair and measure.
"use strict";
(() => {
  const { choices, state } = focuseval.choice;
  const { pair, topicRows, valuesOf, wins } = focuseval.scores;

  const measure = () => choices().measures[state.measure];

  /** The runs that a graph draws, in its order. */
  const runs = (chart) => chart.form.runs.map((name) => ({ name, run: choices().runs.indexOf(name) })).filter(({ run }) => run >= 0);

  /** What a run is beside the others: A, B, or what it is to the baseline or the run with the highest mean. */
  const kind = (run) => {
    if (run === state.a || run === state.b) return run === state.a ? "A" : "B";
    const means = choices().means[state.measure].map(([mean]) => mean ?? -Infinity);
    const best = choices().baseline ?? means.indexOf(Math.max(...means));
    return best !== run && pair(best, run)?.code === 2 ? "significantly worse" : "may be as good";
  };

  focuseval.followed = {
    means: (chart) => ({
      names: { ...chart.form.names, measure: measure() },
      rows: runs(chart).map(({ name, run }) => [name, ...choices().means[state.measure][run], kind(run), choices().standings[state.measure][run]]).filter((row) => row[1] !== null),
    }),

    differences: () => {
      const { topics, runs: labels } = choices();
      const [a, b] = [labels[state.a], labels[state.b] ?? "none"];
      const rows = topicRows();
      return {
        names: { a, b, measure: measure(), wins: wins(), topics: focuseval.count(rows.length) },
        rows: rows.map((row) => [topics[row.topic], row.a, row.b, row.difference, row.difference >= 0 ? a : b]),
      };
    },

    values: (chart) => ({
      names: { measure: measure() },
      rows: runs(chart).flatMap(({ name, run }) => [...valuesOf(run)].map((value, topic) => [name, choices().topics[topic], value]).filter((row) => !Number.isNaN(row[2]))),
    }),

    stars: (chart) => ({
      names: { measure: measure(), method: choices().comparisons.measures[state.measure]?.methods[0] ?? "" },
      rows: runs(chart).flatMap((one) => runs(chart).map((other) => {
        const better = one.run !== other.run && pair(one.run, other.run)?.code === 2;
        const kind = one.run === other.run ? "itself" : better ? "better" : "no";
        return [measure(), one.name, other.name, { itself: "·", better: "★", no: "" }[kind], kind];
      })),
    }),
  };
})();
