import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const globalTimers = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval'];

/** Time and chance come from `src/clock` alone, so that a test can hold them in its hand. */
const noAmbientTime = {
  'no-restricted-globals': [
    'error',
    ...globalTimers.map((name) => ({ name, message: 'Use the injected Clock (src/clock).' })),
  ],
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: 'Use the injected Clock (src/clock).' },
    { object: 'performance', property: 'now', message: 'Use the injected Clock (src/clock).' },
    { object: 'Math', property: 'random', message: 'Use the injected RandomSource (src/clock).' },
  ],
  'no-restricted-syntax': [
    'error',
    {
      selector: "NewExpression[callee.name='Date'][arguments.length=0]",
      message: 'Use the injected Clock (src/clock).',
    },
  ],
};

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', '.rollkeeper/**', 'coverage/**', 'src/**/generated/**'] },
  js.configs.recommended,
  {
    files: ['**/*.{mjs,cjs}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        module: 'writable',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        Buffer: 'readonly',
      },
    },
  },
  {
    files: ['src/console/public/*.js'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'addEventListener',
          'document',
          'fetch',
          'history',
          'localStorage',
          'location',
          'matchMedia',
          'performance',
          'requestAnimationFrame',
          'sessionStorage',
          'setInterval',
          'setTimeout',
          'clearTimeout',
          'AbortController',
          'FormData',
          'TextDecoderStream',
          'URL',
          'URLSearchParams',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/clock/**', 'src/testing/**', 'src/**/*.spec.ts'],
    rules: noAmbientTime,
  },
  { files: ['src/cli/**/*.ts', 'bench/**', 'test/**', 'examples/**'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.spec.ts', 'test/**/*.ts', 'src/testing/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
);
