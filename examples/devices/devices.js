// Lists the devices with their name, hardware and memory. This folder has the same program in Python and Ruby.
'use strict';

const flow = require('oneflow-js');

for (const {name, hardware, totalMemory} of flow.devices()) {
  console.log(`${name}: ${hardware}, ${(totalMemory / 2 ** 30).toFixed(1)} GiB`);
}
