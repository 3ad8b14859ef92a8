'use strict';

/** Suggestions for unknown names in error messages. */

/** The maximal length of a word for which names are suggested; the comparison takes quadratic time. */
const LONGEST_NAME = 64;

/** Returns the Levenshtein distance: the number of insertions, deletions and replacements that turn `a` into `b`. */
function distance(a, b) {
  let row = Array.from({length: b.length + 1}, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[b.length];
}

/**
 * Returns "; did you mean dim?" with the known name that is nearest to a word, or an empty string if no name is near
 * enough to suggest a typing error.
 */
function suggestion(word, known) {
  let nearest = '';
  let best = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const name of word.length > LONGEST_NAME ? [] : known) {
    const steps = distance(word, name);
    if (steps < best) [best, nearest] = [steps, `; did you mean ${name}?`];
  }
  return nearest;
}

module.exports = {suggestion};
