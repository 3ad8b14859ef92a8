'use strict';

/** What an error text proposes for a name that nobody knows. */

/** Longer words are not compared with names. */
const LONGEST_NAME = 64;

/** How many letters must be inserted, removed or replaced to make one word of another. */
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

/** "; did you mean dim?" where a name is near enough to be a slip. */
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
