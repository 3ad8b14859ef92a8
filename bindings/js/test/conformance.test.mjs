// Replays the conformance vectors (docs/reference/vectors.md), whose results the oracles of the records computed, on
// the first device of each available type. A rejected plugin is reported as skipped, with the reason.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';
import flow from 'oneflow-js';
import {camel, check, files, functionOf, host, readVectors, recordOf, toArgument} from './vectors.mjs';

const known = JSON.parse(fs.readFileSync(new URL('../../../tests/devices.json', import.meta.url), 'utf8'));

/** Calls an operator in one form of a case: function, method, in_place or out. Returns its result or results. */
function call(name, form, given, expected) {
  const record = recordOf(name);
  const {input, ...others} = given;
  if (form === 'function') return functionOf(record.publicName)(given);
  if (form === 'method') return input[record.publicName](others);
  if (form === 'in_place' && input === undefined) return functionOf(record.inPlaceName)(given);
  if (form === 'in_place') return input[record.inPlaceName](others);
  const out = expected.map(({dtype, sizes}) => flow.zeros(sizes, {dtype}));
  const returned = functionOf(record.publicName)({...given, out: out.length === 1 ? out[0] : out});
  assert.equal(returned, out.length === 1 ? out[0] : returned);
  return out;
}

/** Replays one case on a device and checks its results. */
function replay(name, each, device) {
  const named = Object.entries(each.arguments).map(([key, value]) => [camel(key), toArgument(value)]);
  const given = Object.fromEntries(named);
  const returned = call(name, each.form, given, each.results);
  const found = Array.isArray(returned) ? returned : [returned];
  assert.equal(found.length, each.results.length);
  const factor = known.types[device.type]?.tolerance ?? 1;
  const tolerances = {relative: factor * each.relative, absolute: factor * each.absolute};
  found.forEach((result, i) => check(result, each.results[i], tolerances, device));
}

for (const device of flow.devices().filter(({index}) => index === 0)) {
  describe(`on ${device}`, () => {
    before(() => flow.setDefaultDevice(device));
    after(() => flow.setDefaultDevice(host));
    for (const file of files) {
      const {op, function: name, cases} = readVectors(file, device);
      const skip = device.capabilities.includes('hostAccessible') ? false : known.host_only[op] ?? false;
      test(`${op}: ${cases.length} cases`, {skip}, () => {
        assert.ok(cases.length > 0);
        for (const each of cases) {
          try {
            replay(name, each, device);
          } catch (error) {
            error.message = `${each.name} (${each.form}): ${error.message}`;
            throw error;
          }
        }
      });
    }
  });
}

for (const [plugin, reason] of Object.entries(flow.rejectedPlugins())) {
  test(`on ${path.parse(plugin).name}`, {skip: reason}, () => {});
}
