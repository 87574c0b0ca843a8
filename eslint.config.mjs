import js from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import ts from 'typescript';
import tseslint from 'typescript-eslint';

const globalTimers = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval'];

const noAmbientDate = {
  selector: "NewExpression[callee.name='Date'][arguments.length=0]",
  message: 'Use the injected Clock (src/machinery/clock).',
};

/** Time and chance come from `src/machinery/clock` alone, so that a test can hold them in its hand. */
const noAmbientTime = {
  'no-restricted-globals': [
    'error',
    ...globalTimers.map((name) => ({ name, message: 'Use the injected Clock (src/machinery/clock).' })),
  ],
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: 'Use the injected Clock (src/machinery/clock).' },
    { object: 'performance', property: 'now', message: 'Use the injected Clock (src/machinery/clock).' },
    { object: 'Math', property: 'random', message: 'Use the injected RandomSource (src/machinery/clock).' },
    { object: 'crypto', property: 'randomUUID', message: 'Use uuidOf (src/machinery/clock).' },
  ],
  'no-restricted-syntax': ['error', noAmbientDate],
};

/** Chance comes from `RandomSource` alone, and turns from the clock, so that a simulation replays them from its seed. */
const noAmbientChance = {
  'no-restricted-imports': [
    'error',
    {
      paths: [
        {
          name: 'node:crypto',
          importNames: ['randomBytes', 'randomInt', 'randomUUID', 'randomFill', 'randomFillSync'],
          message: 'Use the injected RandomSource, and uuidOf (src/machinery/clock).',
        },
        ...['node:timers', 'node:timers/promises'].map((name) => ({
          name,
          message: 'Use the injected Clock, or nextTurn (src/machinery/clock).',
        })),
      ],
    },
  ],
};

/**
 * Objects of the API hold integers that no double can. `JSON` may quote text, and nothing else, where they pass: its
 * `parse` would round them, its `stringify` throw.
 */
const exactIntegers = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { use: 'Use {{name}} (src/machinery/kubernetes): integers are int64.' },
  },
  create(context) {
    const { esTreeNodeToTSNodeMap, program } = context.sourceCode.parserServices;
    const isText = (type) => {
      const parts = type.isUnion() ? type.types : [type];
      return parts.every(({ flags }) => (flags & (ts.TypeFlags.StringLike | ts.TypeFlags.Undefined)) !== 0);
    };
    const isTextOrTexts = (node) => {
      const type = program.getTypeChecker().getTypeAtLocation(esTreeNodeToTSNodeMap.get(node));
      return isText(type) || (type.getNumberIndexType() !== undefined && isText(type.getNumberIndexType()));
    };
    return {
      "CallExpression[callee.object.name='JSON']"(node) {
        const { name } = node.callee.property;
        if (name === 'stringify' && isTextOrTexts(node.arguments[0])) return;
        context.report({ node, messageId: 'use', data: { name: `${name}Json` } });
      },
    };
  },
};

/** Words that make a comment hard to read, with what to write instead; CONTRIBUTING.md has the whole list. */
const plainEnglish = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      avoid: '"{{word}}" in a comment: {{advice}} (CONTRIBUTING.md, "Plain English").',
      opens:
        'A comment that opens with "{{word}}" has no subject: name the thing (CONTRIBUTING.md, "Plain English").',
    },
  },
  create(context) {
    const advice = {
      nobody: 'name what does not happen, or use the passive',
      somebody: 'name the user, the client or the process',
      whoever: 'name the subject',
      whatever: 'write "any", "regardless of" or name the cases',
      shall: 'write "must", "should" or the present tense',
      'in vain': 'write "timed out" or "without success"',
      anew: 'write "again", or name what is recreated',
      'tried again': 'write "retried"',
      'worked on': 'write "processed"',
      'is told': 'write "is notified" or "reports"',
      'are told': 'write "are notified" or "report"',
      'was told': 'write "was notified" or "was cancelled"',
    };
    const words = new RegExp(`\\b(?:${Object.keys(advice).join('|')})\\b`, 'gi');
    const opening = /^[*\s]*(What|Where|Whose|Of|That|Those|Which|Who|Whom)\b/;
    return {
      Program() {
        const all = context.sourceCode.getAllComments();
        for (const [index, comment] of all.entries()) {
          const before = all[index - 1];
          const goesOn = before?.type === 'Line' && before.loc.end.line === comment.loc.start.line - 1;
          const word = goesOn ? undefined : opening.exec(comment.value)?.[1];
          if (word !== undefined) context.report({ loc: comment.loc, messageId: 'opens', data: { word } });
        }
        for (const comment of all)
          for (const { 0: word, index } of comment.value.matchAll(words))
            context.report({
              // Behind the two characters that open a comment.
              loc: context.sourceCode.getLocFromIndex(comment.range[0] + 2 + index),
              messageId: 'avoid',
              data: { word, advice: advice[word.toLowerCase()] },
            });
      },
    };
  },
};

/**
 * The name of a test says its rule: with the names of the `describe` blocks around it, it is a sentence. A `describe` names a
 * thing.
 */
const testNames = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      opens:
        'A test name that opens with "{{word}}" is a fragment: begin with the verb, or name the thing (CONTRIBUTING.md, "Plain English").',
    },
  },
  create(context) {
    const opening = /^(?:what|where|whose|of|that|those|which|who|whom)\b/i;
    const textOf = (node) =>
      node?.type === 'TemplateLiteral'
        ? node.quasis[0]?.value.cooked
        : node?.type === 'Literal'
          ? node.value
          : undefined;
    /** `it.each(table)`, `it.each` with a template and `it.skipIf(...)` as `it`. */
    const rootOf = (node) => {
      if (node.type === 'MemberExpression') return rootOf(node.object);
      if (node.type === 'CallExpression') return rootOf(node.callee);
      return node.type === 'TaggedTemplateExpression' ? rootOf(node.tag) : node;
    };
    return {
      CallExpression(node) {
        const text = node.arguments.length > 1 ? textOf(node.arguments[0]) : undefined;
        const word = typeof text === 'string' ? opening.exec(text)?.[0] : undefined;
        if (word === undefined || !['it', 'test', 'describe'].includes(rootOf(node.callee).name)) return;
        context.report({ node: node.arguments[0], messageId: 'opens', data: { word } });
      },
    };
  },
};

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'src/*/dist/**',
      'node_modules/**',
      '.rollkeeper/**',
      'coverage/**',
      'docs/api/**',
      'docs/site/{pages,dist,node_modules}/**',
      'docs/site/.vitepress/{cache,dist}/**',
      'src/**/generated/**',
      'src/rollkeeper/generate/operator/template/**',
    ],
  },
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
        setInterval: 'readonly',
        clearInterval: 'readonly',
        clearTimeout: 'readonly',
        Buffer: 'readonly',
      },
    },
  },
  {
    files: ['src/rollkeeper/admin/console/public/*.js'],
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
    ignores: ['src/machinery/clock/**', 'src/testing/**', 'src/**/*.spec.ts'],
    rules: noAmbientTime,
  },
  {
    files: ['src/controllers/deployment/policies/**/*.ts'],
    ignores: ['src/**/*.{spec,fixture}.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        noAmbientDate,
        {
          selector: "CallExpression[callee.object.name='draft'][callee.property.name=/^(scale|shrink)$/]",
          message: 'A policy returns limits or a size that it asks for; kubernetes/ sizes.',
        },
      ],
    },
  },
  {
    files: [
      'src/{client,runtime,redis,controllers}/**/*.ts',
      'src/apiserver/{registry,schema,storage}/**/*.ts',
    ],
    // Secrets must not be guessed, and names of processes must differ.
    ignores: [
      'src/apiserver/storage/{memory-storage,redis-secret,redis-replacer,redis-storage.options}.ts',
      'src/**/*.spec.ts',
    ],
    rules: noAmbientChance,
  },
  {
    // A guard that the types call superfluous is dead, or its type says less than may come: then the type is mended.
    files: ['src/**/*.ts'],
    ignores: ['src/**/*.{spec,fixture}.ts'],
    rules: {
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/**/*.{spec,fixture}.ts', 'src/**/*-contract.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 60 }] },
  },
  {
    files: [
      'src/{apiserver,controllers,scheduler,simulator,testing/cluster,testing/in-memory}/**/*.ts',
      'test/conformance/**/*.ts',
      'src/machinery/kubernetes/**/*.ts',
      'src/client/{api-client,informer,events}/**/*.ts',
      'src/rollkeeper/insight/{explain,plan}/**/*.ts',
    ],
    // The server's documents about itself hold no objects.
    ignores: [
      'src/machinery/kubernetes/json-text.ts',
      'src/apiserver/{documents/openapi,server/routing}/**',
      'src/**/*.{spec,fixture}.ts',
      'test/**/*.test.ts',
    ],
    plugins: { rollkeeper: { rules: { 'exact-integers': exactIntegers } } },
    rules: { 'rollkeeper/exact-integers': 'error' },
  },
  {
    files: [
      '{src,test,bench,scripts,examples,create-rollkeeper}/**/*.{ts,js,mjs,cjs}',
      'docs/site/**/*.{js,mjs,ts}',
      '*.{ts,mjs,cjs}',
    ],
    plugins: { english: { rules: { plain: plainEnglish } } },
    rules: { 'english/plain': 'error' },
  },
  {
    files: ['**/*.spec.ts', '**/*-contract.ts', '{test,examples}/**/*.ts'],
    plugins: { names: { rules: { tests: testNames } } },
    rules: { 'names/tests': 'error' },
  },
  {
    // Texts come from users, and all that the same process serves wait for an expression to end: none may need
    // more than a constant number of steps for each character.
    files: ['src/**/*.{ts,js}'],
    ignores: ['src/**/*.spec.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': [
        'error',
        { report: 'potential', ignoreSticky: true, ignorePartial: false },
      ],
    },
  },
  {
    files: ['bench/**', 'test/**', 'examples/**'],
    rules: { 'no-console': 'off' },
  },
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
