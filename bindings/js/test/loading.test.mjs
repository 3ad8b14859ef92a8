// What the package says when its native part cannot be loaded: installations that are damaged, incomplete, or on the
// wrong system.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {before, test} from 'node:test';

import {install, platformPackage, run, temporary, version} from './installation.mjs';

const REQUIRE = "require('oneflow-js')";
const system = new RegExp(`This is linux ${process.arch}, glibc [\\d.]+, Node\\.js ${process.version}\\.`);

let sound;
before((t) => {
  sound = install(t, 'oneflow-js', platformPackage);
});

/** Makes a copy of the installation. Returns its folder and that of the native part. */
function copy(t) {
  const folder = path.join(temporary(t), 'project');
  execFileSync('cp', ['-al', sound, folder]); // links, which change() breaks
  return {folder, native: path.join(folder, 'node_modules', platformPackage)};
}

/** Replaces a file by change(its contents). */
function change(file, edit) {
  const {mode} = fs.statSync(file);
  const contents = edit(fs.readFileSync(file));
  fs.rmSync(file);
  fs.writeFileSync(file, contents, {mode});
}

/** Changes a file without changing its size, from the first `from` on. */
const overwrite = (file, from, to) => change(file, (contents) => {
  assert.ok(contents.includes(from), `${file} has no ${from}`);
  contents.write(to, contents.indexOf(from), 'latin1');
  return contents;
});

/** Writes a module that Node.js is to load first, as JavaScript that changes what the process says of itself. */
function preload(folder, program) {
  fs.writeFileSync(path.join(folder, 'first.cjs'), program);
  return ['--require', './first.cjs'];
}

/** Asserts that loading fails with this code, and a message that matches all patterns. */
function checkFailure({folder}, code, patterns, options = [], variables = {}) {
  const program = `try { ${REQUIRE} } catch ({code, message}) { console.log(JSON.stringify({code, message})); }`;
  const output = run(folder, [...options, '-e', program], variables);
  assert.notEqual(output, '', 'it could be loaded');
  const found = JSON.parse(output);
  assert.equal(found.code, code, found.message);
  for (const pattern of patterns) assert.match(found.message, pattern);
}

test('the package of the platform is not installed', (t) => {
  const project = copy(t);
  fs.rmSync(project.native, {recursive: true});
  const said = [
    new RegExp(`^oneflow-js ${version} cannot be loaded: the package ${platformPackage} is not installed`), system,
    new RegExp(`npm install ${platformPackage}@${version}`), /--omit=optional/,
  ];
  checkFailure(project, 'ONEFLOW_MISSING_PACKAGE', said);
  const imports = ['--input-type=module', '-e', "import 'oneflow-js'"];
  assert.throws(() => run(project.folder, imports), /code: 'ONEFLOW_MISSING_PACKAGE'/);
});

test('there is no package for the processor, the system or the C library', (t) => {
  const project = copy(t);
  const said = (name) => [
    new RegExp(`there is no binary for ${name}, only for ${path.basename(platformPackage)}`), /make package-js/,
  ];
  const pretend = (key, value) =>
    preload(project.folder, `Object.defineProperty(process, '${key}', {value: '${value}'})`);
  checkFailure(project, 'ONEFLOW_UNSUPPORTED_PLATFORM', said('linux-arm64-gnu'), pretend('arch', 'arm64'));
  checkFailure(project, 'ONEFLOW_UNSUPPORTED_PLATFORM', said(`darwin-${process.arch}`), pretend('platform', 'darwin'));

  const musl = preload(project.folder, `
    const report = process.report.getReport();
    delete report.header.glibcVersionRuntime;
    process.report.getReport = () => report;`);
  overwrite(path.join(project.native, 'oneflow.node'), 'ELF', 'FLE');
  checkFailure(project, 'ONEFLOW_UNSUPPORTED_PLATFORM', [...said(`linux-${process.arch}-musl`), /not glibc/], musl);
  fs.rmSync(project.native, {recursive: true});
  checkFailure(project, 'ONEFLOW_UNSUPPORTED_PLATFORM', said(`linux-${process.arch}-musl`), musl);
});

test('glibc is too old', (t) => {
  const project = copy(t);
  overwrite(path.join(project.native, 'oneflow.node'), 'GLIBC_2.', 'GLIBC_9.');
  checkFailure(project, 'ONEFLOW_OLD_LIBC', [/needs glibc 9\.\d+.* or later, and the system has \d/, system]);
});

test('Node.js is too old', (t) => {
  const project = copy(t);
  const old = preload(project.folder, `
    Object.defineProperty(process, 'versions', {value: {...process.versions, napi: '8'}});
    Object.defineProperty(process, 'version', {value: 'v16.20.2'});`);
  const said = [/Node\.js v16\.20\.2 has version 8 of Node-API/, /Install Node\.js \^18/];
  checkFailure(project, 'ONEFLOW_OLD_NODE', said, old);
});

test('files are missing, truncated or damaged', (t) => {
  const files = fs.readdirSync(copy(t).native).filter((file) => /\.node$|\.so|probe$/.test(file));
  assert.ok(files.length >= 4);
  const fix = new RegExp(`rm -rf node_modules/${platformPackage} && npm install ${platformPackage}@${version}`);
  for (const file of files) {
    const missing = copy(t);
    fs.rmSync(path.join(missing.native, file));
    checkFailure(missing, 'ONEFLOW_DAMAGED_PACKAGE', [new RegExp(`damaged: ${file} is missing`), fix, system]);
    const truncated = copy(t);
    change(path.join(truncated.native, file), (contents) => contents.subarray(0, contents.length / 2));
    checkFailure(truncated, 'ONEFLOW_DAMAGED_PACKAGE', [new RegExp(`${file} has \\d+ instead of \\d+ bytes`), fix]);
  }
  for (const file of ['oneflow.node', files.find((name) => name.startsWith('liboneflow.so'))]) {
    const damaged = copy(t);
    overwrite(path.join(damaged.native, file), 'ELF', 'FLE');
    checkFailure(damaged, 'ONEFLOW_DAMAGED_PACKAGE', [/invalid ELF header/, fix]);
  }
  const cut = copy(t);
  change(path.join(cut.native, 'package.json'), (contents) => contents.subarray(0, 100));
  checkFailure(cut, 'ONEFLOW_DAMAGED_PACKAGE', [/JSON/, fix]);
});

test('the package of the platform has another version', (t) => {
  const project = copy(t);
  overwrite(path.join(project.native, 'package.json'), `"version": "${version}"`, '"version": "0.0.9"');
  const fix = new RegExp(`Run: npm install oneflow-js@${version} ${platformPackage}@${version}`);
  checkFailure(project, 'ONEFLOW_VERSION_MISMATCH', [/has version 0\.0\.9/, fix]);
});

test('the process has loaded liboneflow of another version', (t) => {
  const project = copy(t);
  const addon = path.join(project.native, 'oneflow.node');
  const symbols = execFileSync('nm', ['-D', '--undefined-only', addon], {encoding: 'utf8'});
  const names = symbols.match(/\bof_\w+/g).filter((name) => !['of_version', 'of_library_path'].includes(name));
  const source = path.join(project.folder, 'other.c');
  const library = path.join(project.folder, 'liboneflow.so.0');
  const compile = (functions) => {
    fs.writeFileSync(source, `
      const char* of_version(void) { return "0.0.9"; }
      const char* of_library_path(void) { return "${library}"; }
      ${functions.map((name) => `void ${name}(void) {}`).join('\n')}`);
    execFileSync('cc', ['-shared', '-fPIC', '-w', '-Wl,-soname,liboneflow.so.0', source, '-o', library]);
  };
  const said = (found) => [new RegExp(`has already loaded ${library}, liboneflow ${found}`), /npm ls oneflow-js/];
  compile(names);
  checkFailure(project, 'ONEFLOW_VERSION_MISMATCH', said('0\\.0\\.9'), [], {LD_PRELOAD: library});
  compile([]); // so that functions which the addon needs are missing
  const variables = {LD_PRELOAD: library, LD_BIND_NOW: '1'};
  checkFailure(project, 'ONEFLOW_VERSION_MISMATCH', said('of another version'), [], variables);
});
