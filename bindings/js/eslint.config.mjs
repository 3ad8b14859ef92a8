// Style and mistakes in the JavaScript of this package; docs/conventions/javascript.md says what it is after.

import js from '@eslint/js';

const NODE_GLOBALS = [
  'Buffer', 'MessageChannel', 'TextEncoder', 'URL', '__dirname', 'clearInterval', 'console', 'exports', 'module',
  'performance', 'process', 'require', 'setInterval', 'setTimeout', 'structuredClone',
];

export default [
  {ignores: ['node_modules/', 'native/']},
  js.configs.recommended,
  {
    languageOptions: {
      ecmaVersion: 2022,
      globals: Object.fromEntries(NODE_GLOBALS.map((name) => [name, 'readonly'])),
    },
    rules: {
      'eqeqeq': 'error',
      'no-shadow': 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
      'prefer-template': 'error',
      'max-len': ['error', {code: 120}],
      'camelcase': 'error',
      'curly': ['error', 'multi-line'],
      'consistent-return': 'error',
      'no-else-return': 'error',
      'strict': ['error', 'safe'],
    },
  },
  {files: ['**/*.mjs'], languageOptions: {sourceType: 'module'}},
  {files: ['**/*.js'], languageOptions: {sourceType: 'commonjs'}},
  // Generated: one call a line, and names of the definitions as keys.
  {files: ['generated/*'], rules: {'max-len': 'off', 'camelcase': 'off'}},
];
