// ESLint rules for the JavaScript of this package, and of its examples.

import js from '@eslint/js';

const NODE_GLOBALS = [
  'AbortController', 'AbortSignal', 'Buffer', '__dirname', 'clearTimeout', 'console', 'module', 'process', 'require',
  'setImmediate', 'setTimeout', 'structuredClone', 'URL', '__filename',
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
  // Generated files have one call per line, and the snake_case names of the definitions as keys.
];
