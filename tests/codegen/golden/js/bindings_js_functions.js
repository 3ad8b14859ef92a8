// generated from opdefs by codegen, do not edit
'use strict';

/**
 * The public functions with their overloads, in the order in which a call tries them. An argument's type is that of the
 * definition, `expected` is how an error text calls it.
 */
exports.functions = [
  {
    name: 'add',
    publicName: 'add',
    asyncName: 'addAsync',
    inPlaceName: 'add_',
    isMethod: true,
    overloads: [
      {
        operator: 'add',
        name: 'add',
        arguments: [
          {
            name: 'input',
            type: 'Tensor|Number',
            expected: 'Tensor or number',
          },
          {
            name: 'other',
            type: 'Tensor|Number',
            expected: 'Tensor or number',
          },
        ],
        results: [''],
        out: true,
      },
    ],
  },
  {
    name: 'doubleSlice',
    publicName: 'doubleSlice',
    asyncName: 'doubleSliceAsync',
    isMethod: true,
    overloads: [
      {
        operator: 'double_slice',
        name: 'doubleSlice',
        arguments: [
          {
            name: 'input',
            type: 'Tensor',
            expected: 'Tensor',
          },
        ],
        results: [''],
      },
    ],
  },
  {
    name: 'doubled',
    publicName: 'doubled',
    asyncName: 'doubledAsync',
    isMethod: true,
    overloads: [
      {
        operator: 'double_slice',
        name: 'doubleSlice',
        arguments: [
          {
            name: 'input',
            type: 'Tensor',
            expected: 'Tensor',
          },
        ],
        results: [''],
      },
    ],
  },
  {
    name: 'gelu',
    publicName: 'gelu',
    asyncName: 'geluAsync',
    inPlaceName: 'gelu_',
    isMethod: true,
    overloads: [
      {
        operator: 'gelu',
        name: 'gelu',
        arguments: [
          {
            name: 'input',
            type: 'Tensor',
            expected: 'Tensor',
          },
          {
            name: 'approximate',
            type: 'str',
            expected: 'string',
            hasDefault: true,
            keywordOnly: true,
          },
        ],
        results: [''],
        out: true,
      },
    ],
  },
  {
    name: 'max',
    publicName: 'max',
    asyncName: 'maxAsync',
    isMethod: true,
    overloads: [
      {
        operator: 'max.dim',
        name: 'max',
        arguments: [
          {
            name: 'input',
            type: 'Tensor',
            expected: 'Tensor',
          },
          {
            name: 'dim',
            type: 'dim',
            expected: 'integer',
          },
          {
            name: 'keepdim',
            type: 'bool',
            expected: 'boolean',
            hasDefault: true,
          },
        ],
        results: ['values', 'indices'],
        out: true,
      },
    ],
  },
  {
    name: 'slice',
    publicName: 'slice',
    isMethod: true,
    overloads: [
      {
        operator: 'slice',
        name: 'slice',
        arguments: [
          {
            name: 'input',
            type: 'Tensor',
            expected: 'Tensor',
          },
          {
            name: 'dim',
            type: 'dim',
            expected: 'integer',
            hasDefault: true,
          },
          {
            name: 'start',
            type: 'int?',
            expected: 'integer or null',
            hasDefault: true,
          },
          {
            name: 'end',
            type: 'int?',
            expected: 'integer or null',
            hasDefault: true,
          },
          {
            name: 'step',
            type: 'int',
            expected: 'integer',
            hasDefault: true,
          },
        ],
        results: [''],
      },
    ],
  },
  {
    name: 'zeros',
    publicName: 'zeros',
    asyncName: 'zerosAsync',
    isMethod: false,
    overloads: [
      {
        operator: 'zeros',
        name: 'zeros',
        arguments: [
          {
            name: 'size',
            type: 'size[]',
            expected: 'array of integers',
          },
          {
            name: 'dtype',
            type: 'dtype?',
            expected: 'dtype or null',
            hasDefault: true,
            keywordOnly: true,
          },
          {
            name: 'device',
            type: 'device?',
            expected: 'device or null',
            hasDefault: true,
            keywordOnly: true,
          },
        ],
        results: [''],
        out: true,
      },
    ],
  },
];

/** Names of operators and arguments that are spelt differently in the runtime's texts. */
exports.words = {
  double_slice: 'doubleSlice',
};
