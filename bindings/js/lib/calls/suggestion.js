'use strict';

/** Suggestions for unknown names in error messages. */

const native = require('../addon/native');

/** Returns "; did you mean dim?" with the known name that a word most likely stands for; '' if there is none. */
function suggestion(word, known) {
  const name = native.nearestName(word, known);
  return name === undefined ? '' : `; did you mean ${name}?`;
}

module.exports = {suggestion};
