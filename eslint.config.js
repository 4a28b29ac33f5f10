// Lint rules: few, typed, each here for a reason a formatter or the compiler cannot give.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** What plain JavaScript of this repository uses of Node; the compiler knows it for TypeScript. */
const NODE_GLOBALS = [
  'process',
  'console',
  'URL',
  'Buffer',
  'fetch',
  'AbortController',
  'AbortSignal',
  'performance',
  'setTimeout',
  'clearTimeout',
];

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'out/**',
      'node_modules/**',
      '.parley/**',
      'test/golden/**',
      'examples/**/tasks/**',
      'examples/**/written/**',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ExportDefaultDeclaration',
          message: 'Name the export: `export function …`. Default exports get a new name at every import.',
        },
      ],
    },
  },
  {
    files: ['*.config.js', '*.config.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['**/*.js'],
    languageOptions: {
      globals: Object.fromEntries(NODE_GLOBALS.map((name) => [name, 'readonly'])),
    },
  },
);
