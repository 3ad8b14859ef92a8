// Replays the conformance vectors of einsum in its other forms: labels in lists, options in front of the operands, and
// expressions.

import {test} from 'node:test';
import flow from 'oneflow-js';
import {check, host, readVectors, toArgument} from './vectors.mjs';

const {cases} = readVectors('einsum.json');
const [device] = flow.devices().filter(({name}) => name === host);
const FIRST_NUMBER = 1000; // added to labels that are numbers, so that they come after all letters

/** Converts a term of an equation to a list of labels. A letter becomes its position in `letters`. */
function labelsOf(term, letters) {
  return term.match(/\[[^\]]*\]|\.\.\.|\S/gu)?.flatMap((part) => {
    if (part === '...') return [part];
    if (!part.startsWith('[')) return [letters.indexOf(part)];
    const members = part.slice(1, -1).split(',').map((member) => member.trim()).filter((member) => member !== '');
    return members.map((member) => (member === '...' ? member : FIRST_NUMBER + Number(member)));
  }) ?? [];
}

/** Converts an equation and operands to operands followed by their labels, and the labels of an explicit result. */
function labelled(equation, operands) {
  const letters = [...new Set(equation.match(/\p{L}/gu))].sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
  const [left, right] = equation.split('->');
  const terms = left.split(/,(?![^[]*\])/u).map((term) => labelsOf(term, letters));
  return [
    ...operands.flatMap((operand, i) => [operand, terms[i]]),
    ...(right === undefined ? [] : [labelsOf(right, letters)]),
  ];
}

const forms = {
  'labels in lists': ({equation, operands, ...options}) => flow.einsum(...labelled(equation, operands), options),
  'options in front': ({equation, operands, ...options}) => flow.einsum(equation, options, ...operands),
  'expressions': ({equation, operands, ...options}) => flow.einsumExpression(equation, operands, options)(...operands),
};

for (const [form, call] of Object.entries(forms)) {
  const replayed = cases.filter((each) => each.form === 'function');
  test(`${form}: ${replayed.length} cases`, () => {
    for (const each of replayed) {
      const given = Object.fromEntries(Object.entries(each.arguments).map(([key, value]) => [key, toArgument(value)]));
      try {
        check(call(given), each.results[0], each, device);
      } catch (error) {
        error.message = `${each.name}, ${given.equation}: ${error.message}`;
        throw error;
      }
    }
  });
}
