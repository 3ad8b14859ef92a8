// ESLint rules for the JavaScript of this package; docs/conventions/javascript.md describes the conventions.

import js from '@eslint/js';

const NODE_GLOBALS = [
  'AbortController', 'AbortSignal', 'Buffer', 'MessageChannel', 'TextEncoder', 'URL', '__dirname', '__filename',
  'clearInterval', 'console', 'exports', 'module', 'performance', 'process', 'require', 'setInterval', 'setTimeout',
  'structuredClone',
];

export default [
  {ignores: ['node_modules/']},
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
  // Generated files have one call per line, and the snake_case names of the definitions as keys.
  {files: ['generated/*'], rules: {'max-len': 'off', 'camelcase': 'off'}},
];
