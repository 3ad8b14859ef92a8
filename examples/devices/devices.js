// Lists the devices: name, hardware, memory. The same program stands beside this one in Python and in Ruby.
'use strict';

const flow = require('oneflow-js');

for (const {name, hardware, totalMemory} of flow.devices()) {
  console.log(`${name}: ${hardware}, ${(totalMemory / 2 ** 30).toFixed(1)} GiB`);
}
