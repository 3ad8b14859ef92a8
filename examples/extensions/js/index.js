'use strict';

require('oneflow-js'); // loads liboneflow, which the addon uses

module.exports = require('./build/Release/extras.node');
