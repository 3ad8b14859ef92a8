'use strict';

/** What Node.js has of its own for the classes of records. */

const fs = require('node:fs');
const util = require('node:util');
const {isObject} = require('./object');
const {Profile, TensorFile, comm, graph: {Graph}} = require('../../generated/classes');
const {spawn} = require('../comm/spawn');

/** Makes util.inspect() show an object by `show`; a disposed one, and one with only the prototype, without it. */
function setInspection(Class, show) {
  Class.prototype[util.inspect.custom] = function inspect() {
    if (!isObject(this)) return `${Class.name} {}`;
    return this.isDisposed ? `${Class.name}(disposed)` : show(this);
  };
}

setInspection(Graph, ({inputs, callCount}) => {
  const parts = inputs.map(({name, dtype, shape}) => `${name}: ${dtype}[${shape.join(', ')}]`);
  return `Graph { (${parts.join(', ')}), ${callCount} call${callCount === 1 ? '' : 's'} }`;
});
setInspection(TensorFile, (file) => `TensorFile { ${file.isClosed ? 'closed' : `${file.size} tensors`} }`);
setInspection(Profile, ({entries}) => `Profile { ${entries.length} calls }`);

Profile.prototype.save = function save(path) {
  fs.writeFileSync(path, this.trace());
};

comm.spawn = spawn;
