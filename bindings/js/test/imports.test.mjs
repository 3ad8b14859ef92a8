// The modules of the package require each other without cycles; a require() in a function counts as well.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

const lib = fileURLToPath(new URL('../lib', import.meta.url));

/** Returns the files of a folder that the text of one of them requires. */
function requiredBy(folder, text) {
  const names = [...text.matchAll(/\brequire\('\.\/(\w+)'\)/g)].map(([, name]) => name);
  return names.filter((name) => fs.existsSync(path.join(folder, `${name}.js`)));
}

/** Returns the names of the modules on a cycle of a folder; undefined if there is none. */
function cycleIn(folder) {
  const files = fs.readdirSync(folder).filter((file) => file.endsWith('.js'));
  const required = new Map(files.map((file) => (
    [path.basename(file, '.js'), requiredBy(folder, fs.readFileSync(path.join(folder, file), 'utf8'))]
  )));
  const done = new Set();
  const visit = (name, above) => {
    if (above.includes(name)) return [...above.slice(above.indexOf(name)), name];
    if (done.has(name)) return undefined;
    done.add(name);
    for (const next of required.get(name)) {
      const found = visit(next, [...above, name]);
      if (found) return found;
    }
    return undefined;
  };
  for (const name of required.keys()) {
    const found = visit(name, []);
    if (found) return found;
  }
  return undefined;
}

test('no module requires itself through others', () => {
  assert.equal(cycleIn(lib), undefined);
});

test('a require() in a function makes a cycle as well', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'imports-'));
  t.after(() => fs.rmSync(folder, {recursive: true}));
  fs.writeFileSync(path.join(folder, 'first.js'), "const second = require('./second');\n");
  fs.writeFileSync(path.join(folder, 'second.js'), "const use = () => require('./third').value;\n");
  fs.writeFileSync(path.join(folder, 'third.js'), "const {name} = require('./first');\n");
  assert.deepEqual(cycleIn(folder), ['first', 'second', 'third', 'first']);
});
