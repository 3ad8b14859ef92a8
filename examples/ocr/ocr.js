// Reads the text of a picture: finds lines of text, turns those that are upside down, and reads each.
//
// Usage: node ocr.js FOLDER PICTURE. FOLDER has what convert.py writes; PICTURE is a bitmap (PBM, P4), whose sizes are
// multiples of 32. This folder has the same program in Python, Ruby and C++.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const flow = require('oneflow-js');

const [HEIGHT, TURNER_WIDTH] = [48, 192];

/** Returns a picture of shape (1, 3, height, width), with 1 for white and -1 for black. */
function readBitmap(file) {
  const bytes = fs.readFileSync(file);
  const sizes = bytes.indexOf('\n') + 1;
  const bits = bytes.indexOf('\n', sizes) + 1;
  const [width, height] = bytes.toString('latin1', sizes, bits).trim().split(' ').map(Number);
  const pixels = new Float32Array(width * height).map((_, i) => 1 - 2 * (bytes[bits + (i >> 3)] >> (7 - i % 8) & 1));
  return flow.tensor(pixels).reshape(1, 1, height, width).expand(1, 3, height, width);
}

/** Yields the connected parts of a mask as boxes [left, top, right, bottom]. */
function* components(rows) {
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      let [left, top, right, bottom] = [x, y, x, y];
      row[x] = false;
      const waiting = [[x, y]];
      while (waiting.length > 0) {
        const [i, j] = waiting.pop();
        [left, right] = [Math.min(left, i), Math.max(right, i)];
        [top, bottom] = [Math.min(top, j), Math.max(bottom, j)];
        for (const [column, line] of [[i - 1, j], [i + 1, j], [i, j - 1], [i, j + 1]]) {
          if (!rows[line]?.[column]) continue;
          rows[line][column] = false;
          waiting.push([column, line]);
        }
      }
      yield [left, top, right + 1, bottom + 1];
    }
  }
}

/** Yields the boxes of the lines of text. The detector marks their middles, so that boxes grow. */
function* findLines(detector, picture) {
  const [, , height, width] = picture.shape;
  const marks = detector.run(picture).at(0, 0);
  for (const [left, top, right, bottom] of components(marks.gt(0.3).toArray())) {
    const [columns, rows] = [right - left, bottom - top];
    if (Math.min(columns, rows) < 3 || marks.at(`${top}:${bottom}, ${left}:${right}`).mean().item() < 0.5) continue;
    const margin = Math.floor(4 * columns * rows / (5 * (columns + rows)));
    yield [
      Math.max(left - margin, 0), Math.max(top - margin, 0),
      Math.min(right + margin, width), Math.min(bottom + margin, height),
    ];
  }
}

/** Returns the width of a line that is scaled to HEIGHT. */
const widthOf = (line) => Math.ceil(HEIGHT * line.shape[3] / line.shape[2]);

/** Returns whether a line is turned by 180 degrees. */
function isUpsideDown(turner, line) {
  const width = Math.min(widthOf(line), TURNER_WIDTH);
  const strip = flow.interpolate(line, {size: [HEIGHT, width], mode: 'bilinear'});
  return turner.run(flow.pad(strip, [0, TURNER_WIDTH - width])).at(0, 1).item() > 0.9;
}

/** Returns the text of a line: at each position the most probable character, or none. */
function readLine(reader, characters, line) {
  const strip = flow.interpolate(line, {size: [HEIGHT, widthOf(line)], mode: 'bilinear'});
  const best = reader.run(strip).at(0).argmax({dim: 1}).toArray();
  const changes = best.filter((number, i) => number !== 0 && number !== best[i - 1]);
  return changes.map((number) => characters[number - 1]).join('');
}

function main(folder, file) {
  const load = (name) => flow.graph.load(path.join(folder, `${name}.flow`));
  const [detector, turner, reader] = ['detector', 'turner', 'reader'].map(load);
  const characters = fs.readFileSync(path.join(folder, 'characters.txt'), 'utf8').split('\n');
  const picture = readBitmap(file);
  for (const [left, top, right, bottom] of findLines(detector, picture)) {
    let line = picture.at(`..., ${top}:${bottom}, ${left}:${right}`);
    if (isUpsideDown(turner, line)) line = line.flip([2, 3]);
    console.log(`${left},${top} ${right},${bottom} ${readLine(reader, characters, line)}`);
  }
}

main(...process.argv.slice(2));
