// Says which files are tests, to which suite each belongs, and which programs of the machine they need. This is plain
// Node 20, and needs nothing from node_modules: `npm test` reads it before anything is installed, and
// vitest.config.ts makes its projects of it.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ROOT } from './setup.mjs';

/** The files of each suite, and how long the suite and one file of it may take on two quiet cores, seconds. */
export const SUITES = {
  unit: {
    files: [
      { folder: 'src', ending: '.spec.ts' },
      { folder: 'test/unit', ending: '.test.ts' },
      { folder: 'test/simulation', ending: '.test.ts' },
      { folder: 'test/conformance', ending: '.test.ts' },
    ],
    budgetSeconds: 80,
    fileBudgetSeconds: 5,
  },
  integration: {
    files: [
      { folder: 'test/integration', ending: '.test.ts' },
      { folder: 'examples', ending: '.test.ts' },
      // The tests that a new operator begins with: `rollkeeper generate operator`.
      { folder: 'src/rollkeeper/generate/operator/template', ending: '.test.ts' },
    ],
    budgetSeconds: 140,
    fileBudgetSeconds: 15,
  },
  e2e: {
    files: [{ folder: 'test/e2e', ending: '.test.ts' }],
    budgetSeconds: 140,
    fileBudgetSeconds: 30,
  },
  nightly: {
    files: ['nightly', 'chaos', 'fuzz'].map((name) => ({ folder: `test/${name}`, ending: '.test.ts' })),
    budgetSeconds: 3600,
    fileBudgetSeconds: 600,
  },
};

/** A change must pass these suites. */
export const GATE = ['unit', 'integration', 'e2e'];

/** The patterns that vitest finds the files of a suite by. */
export function includeOf(suite) {
  return SUITES[suite].files.map(({ ending, folder }) => `${folder}/**/*${ending}`);
}

/** Every test file, by suite; paths from the root, with slashes. */
export function testFiles() {
  return Object.fromEntries(
    Object.entries(SUITES).map(([suite, { files }]) => [
      suite,
      files.flatMap(({ ending, folder }) => filesBelow(folder).filter((file) => file.endsWith(ending))),
    ]),
  );
}

/**
 * The suites and files that were asked for.
 * @param paths parts of paths; without any, the whole suites
 * @param suites those that were named; without any, the gate, and for a path that is in none of them the nightly suite as well
 * @throws Error when a path names no test
 */
export function selectTests({ paths, suites = [] }) {
  const all = testFiles();
  const wanted = new Set(suites.length > 0 ? suites : GATE);
  const matches = (suite, path) => all[suite].filter((file) => file.includes(path));
  for (const path of paths) {
    if ([...wanted].some((suite) => matches(suite, path).length > 0)) continue;
    if (suites.length > 0 || matches('nightly', path).length === 0)
      throw new Error(`no test file of the suites ${[...wanted].join(', ')} has "${path}" in its path`);
    wanted.add('nightly');
  }
  const filesOf = (suite) =>
    paths.length === 0 ? all[suite] : all[suite].filter((file) => paths.some((path) => file.includes(path)));
  return {
    suites: [...wanted].filter((suite) => filesOf(suite).length > 0),
    files: [...wanted].flatMap(filesOf),
  };
}

/** A file that needs something of the machine has this in its text, or in that of a file that it imports. */
const SIGNS = {
  kubectl: /['"`]kubectl['"`]/,
  oldKubectl: /ROLLKEEPER_OLD_KUBECTL/,
  helm: /ROLLKEEPER_HELM/,
  chromium: /from 'playwright-core'/,
  build: /['"`/]dist['"`/]/,
};

/** The needs of these files: `redis`, `build`, `kubectl`, `oldKubectl`, `helm`, `chromium`. */
export function needsOf(files) {
  const needs = new Set();
  const read = new Set();
  for (const file of files) {
    const isUnit = SUITES.unit.files.some(({ folder }) => file.startsWith(`${folder}/`));
    if (!isUnit) needs.add('redis');
    for (const text of textsReachedFrom(join(ROOT, file), read))
      for (const [need, sign] of Object.entries(SIGNS))
        // Unit tests read sources that name `dist`, and run nothing of it.
        if (sign.test(text) && !(isUnit && need === 'build')) needs.add(need);
  }
  return needs;
}

/** The texts of a test and of the test code that it imports. Those that were `read` before are left out. */
export function textsReachedFrom(file, read) {
  if (read.has(file) || !isTestCode(file)) return [];
  read.add(file);
  const text = readFileSync(file, 'utf8');
  const imported = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path]) => sourceOf(file, path));
  return [text, ...imported.flatMap((each) => (each ? textsReachedFrom(each, read) : []))];
}

function isTestCode(file) {
  const path = fromRoot(file);
  return /^(test|examples|src\/testing)\//.test(path) || /\.spec\.ts$/.test(path);
}

/** `./x.js` is written as x.ts. */
function sourceOf(importer, path) {
  const file = resolve(dirname(importer), path);
  return [file.replace(/\.js$/, '.ts'), file].find((candidate) => existsSync(candidate));
}

function filesBelow(folder) {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => fromRoot(join(entry.parentPath ?? entry.path, entry.name)))
    .filter((file) => !file.includes('node_modules/'))
    .sort();
}

function fromRoot(file) {
  return relative(ROOT, file).split(sep).join('/');
}
