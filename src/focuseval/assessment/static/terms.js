// Where the query's words stand in a text, as spans of units.

/** Singular and plural are one word to a reader. */
function stem(term) {
  return /[^s]s$/.test(term) && term.length > 3 ? term.slice(0, -1) : term;
}

export function findTerms(text, terms, limit = 5000) {
  const words = terms.map((term) => `${stem(term).replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+")}(?:e?s|['’]s)?`);
  if (!words.length) return [];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const found = [];
  for (const match of text.matchAll(pattern)) {
    found.push([match.index, match.index + match[0].length]);
    if (found.length >= limit) break;
  }
  return found;
}
