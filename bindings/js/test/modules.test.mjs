// The exports of the package in both module systems, and their documentation.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import {test} from 'node:test';
import ts from 'typescript';
import flow, * as names from 'oneflow-js';

const required = createRequire(import.meta.url)('oneflow-js');

test('require() and import have the same exports', () => {
  assert.equal(required, flow);
  const {default: whole, ...exported} = names;
  assert.equal(whole, flow);
  assert.deepEqual(Object.keys(exported).sort(), Object.keys(flow).sort());
  for (const [name, value] of Object.entries(exported)) assert.equal(value, flow[name]);
});

/** Yields all declarations of a file, including the members of its modules and classes, as [path, node]. */
function* declarations(node, path = []) {
  const name = node.name?.text ?? node.name?.expression?.getText();
  const here = name === undefined ? path : [...path, name];
  if (ts.isVariableStatement(node)) {
    for (const each of node.declarationList.declarations) yield [[...path, each.name.text], node];
    return;
  }
  const isPublic = ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) || ts.isMethodDeclaration(node) || ts.isMethodSignature(node) ||
    ts.isPropertyDeclaration(node) || ts.isPropertySignature(node);
  if (isPublic) yield [here, node];
  if (ts.isFunctionLike(node) || ts.isTypeAliasDeclaration(node)) return;
  for (const child of node.getChildren()) yield* declarations(child, here);
}

/** The methods of operators are declared in an interface of their own. */
const ownerOf = (part, i, path) => (part === 'TensorMethods' && i + 1 < path.length ? 'Tensor' : part);

const files = ['lib/index.d.ts', 'generated/index.d.ts', 'generated/classes.d.ts']
  .map((name) => new URL(`../${name}`, import.meta.url));
const declared = files.flatMap((file) => {
  const source = ts.createSourceFile(file.pathname, fs.readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true);
  return [...declarations(source)].map(([path, node]) => {
    return {path: path.filter((part) => !['../lib/index.js', './classes.js'].includes(part)).map(ownerOf), node};
  });
});
const isDocumented = (node) => ts.getJSDocCommentsAndTags(node).length > 0;

test('every declaration is documented', () => {
  // One documented overload per name is enough; the types of `code` and valueOf() say all about them.
  const documented = new Set(declared.filter(({node}) => isDocumented(node)).map(({path}) => path.join('.')));
  const silent = new Set(['code', 'valueOf', 'toString', 'Tensor']);
  const missing = declared
    .filter(({path}) => !documented.has(path.join('.')) && !silent.has(path.at(-1)))
    .map(({path}) => path.join('.'));
  assert.deepEqual([...new Set(missing)], []);
});

test('exported and declared names are the same', () => {
  // The type of a value that no program creates.
  const types = new Set(['EinsumExpression']);
  const isType = ({node}) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
  const paths = declared.filter((each) => each.path.length > 1 || !isType(each)).map(({path}) => path);
  // What `ops` holds is declared beside the libraries of operators.
  const values = [null, flow.ops];
  const isNamespace = (value) => (
    typeof value === 'object' && !values.includes(value) && !(value instanceof flow.Generator)
  );
  const ours = paths.filter((path) => {
    if (path.length === 1) return !types.has(path[0]);
    const owner = path.slice(0, -1).reduce((value, name) => value?.[name], flow);
    return owner !== undefined && isNamespace(owner);
  });
  const namesIn = (owner) => Object.entries(owner).flatMap(([name, value]) => (
    isNamespace(value) ? namesIn(value).map((member) => `${name}.${member}`) : [name]
  ));
  const exported = namesIn(flow);
  assert.deepEqual([...new Set(ours.map((path) => path.join('.')))].sort(), exported.sort());
  const members = new Set(paths.filter(([name, member]) => name === 'Tensor' && member).map(([, member]) => member));
  const found = ['id', ...Object.getOwnPropertyNames(flow.Tensor.prototype)].filter((name) => name !== 'constructor');
  assert.deepEqual([...members].filter((name) => !name.startsWith('Symbol')).sort(), found.sort());
});

test('the declarations work with the module resolution of bundlers', () => { // `npm run lint` checks the others
  const program = ts.createProgram([new URL('types/esm.mts', import.meta.url).pathname], {
    target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts', 'lib.esnext.disposable.d.ts'], types: ['node'],
    module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, strict: true, noEmit: true,
  });
  const problems = ts.getPreEmitDiagnostics(program);
  assert.deepEqual(problems.map(({messageText}) => ts.flattenDiagnosticMessageText(messageText)), []);
});
