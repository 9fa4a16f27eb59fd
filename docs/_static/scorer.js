// How the search orders its hits: pages that say what to do come before explanations, and decisions come last.
const LAST = [["decisions/", 40], ["explanation/", 15], ["changelog", 30]];
var Scorer = {
  score: ([page, , , , score]) => score - (LAST.find(([folder]) => page.startsWith(folder))?.[1] ?? 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
