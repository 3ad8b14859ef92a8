#!/usr/bin/env node
'use strict';

/** The command oneflow-run, which starts the ranks of a job: runs the program of that name, a native file. */

const {spawn} = require('node:child_process');
const os = require('node:os');
const {launcher} = require('./addon/packages');

/** The signals that the program passes on to the ranks. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGCONT'];

const program = launcher();
// The program ends if this process is killed, which cannot become the program.
const child = spawn(program, ['--end-with', String(process.pid), ...process.argv.slice(2)], {stdio: 'inherit'});
for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`oneflow-run: ${program} cannot be run: ${error.message}`);
  process.exitCode = 126;
});
child.on('exit', (status, signal) => {
  if (signal === null) {
    process.exitCode = status;
    return;
  }
  process.removeAllListeners(signal);
  process.exitCode = 128 + os.constants.signals[signal];
  process.kill(process.pid, signal);
});
