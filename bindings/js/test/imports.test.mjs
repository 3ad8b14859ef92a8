// The modules of the package require each other without cycles; a require() in a function counts as well.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Returns the files of the same folder, or of another one beside it, that a file requires. */
function requiredBy(file) {
  const text = fs.readFileSync(file, 'utf8');
  const names = [...text.matchAll(/\brequire\('(\.\.?\/[\w/]+)'\)/g)].map(([, name]) => name);
  return names.map((name) => path.resolve(path.dirname(file), `${name}.js`)).filter((each) => fs.existsSync(each));
}

/** Returns the names of the modules on a cycle that the files of folders begin; undefined if there is none. */
function cycleIn(...folders) {
  const files = folders.flatMap((folder) => fs.readdirSync(folder).map((file) => path.join(folder, file)));
  const done = new Set();
  const visit = (file, above) => {
    if (above.includes(file)) return [...above.slice(above.indexOf(file)), file];
    if (done.has(file)) return undefined;
    done.add(file);
    for (const next of requiredBy(file)) {
      const found = visit(next, [...above, file]);
      if (found) return found;
    }
    return undefined;
  };
  for (const file of files.filter((each) => each.endsWith('.js'))) {
    const found = visit(file, []);
    if (found) return found.map((each) => path.basename(each, '.js'));
  }
  return undefined;
}

test('no module requires itself through others', () => {
  assert.equal(cycleIn(path.join(root, 'lib'), path.join(root, 'generated')), undefined);
});

test('a require() in a function makes a cycle as well', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'imports-'));
  t.after(() => fs.rmSync(folder, {recursive: true}));
  fs.writeFileSync(path.join(folder, 'first.js'), "const second = require('./second');\n");
  fs.writeFileSync(path.join(folder, 'second.js'), "const use = () => require('./third').value;\n");
  fs.writeFileSync(path.join(folder, 'third.js'), "const {name} = require('./first');\n");
  assert.deepEqual(cycleIn(folder), ['first', 'second', 'third', 'first']);
});
