// `npm test`: the gate. `npm test -- PATH...`: the test files that have one of these in their path, with only what they need set up.
// `--suite unit|integration|e2e|nightly`, more than once if wanted: other suites than the gate's. `--watch`: runs again what a change
// touches. `--affected[=REF]`: only the files that a change since REF (default: origin/main, or main) can reach, by the packages that
// they import. Everything else that begins with `-` goes to vitest (`-t NAME`, `--name=value`). The last line counts.
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fail, run, say, tryOutput } from './lib/run.mjs';
import { ROOT, ensureDependencies, ensureNode } from './lib/setup.mjs';
import { affectedTests, packagesOfWorkspace } from './lib/affected-tests.mjs';
import { setUpFor } from './lib/test-setup.mjs';
import { SUITES, selectTests } from './lib/test-suites.mjs';
import { summaryOf } from './lib/test-summary.mjs';

const asked = readArguments(process.argv.slice(2));
await ensureDependencies();
const node = ensureNode();
const { files, paths, suites } = narrow(select(asked));
const env = {
  ...process.env,
  PATH: `${dirname(node)}:${process.env.PATH}`,
  ...(await setUpFor(files, node)),
};
const vitest = join('node_modules', 'vitest', 'vitest.mjs');
const args = [...suites.map((suite) => `--project=${suite}`), ...asked.options, ...paths];

if (asked.watch) {
  process.exitCode = await run(node, [vitest, 'watch', ...args], { cwd: ROOT, env });
} else {
  const file = join(tmpdir(), `rollkeeper-tests-${process.pid}.json`);
  const reporters = ['--reporter=default', '--reporter=./scripts/lib/test-reporter.mjs'];
  const exitCode = await run(node, [vitest, 'run', ...reporters, ...args], {
    cwd: ROOT,
    env: { ...env, ROLLKEEPER_TEST_REPORT: file },
  });
  const { failed, lines, passed } = summaryOf(readReport(file), {
    namesSkipped: !asked.options.includes('-t'),
  });
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = exitCode !== 0 || failed > 0 || passed === 0 ? 1 : 0;
}

function select({ paths, suites: named }) {
  try {
    return selectTests({ paths, suites: named });
  } catch (error) {
    say(error.message);
    process.stdout.write('0 passed, 1 failed\n');
    process.exit(1);
  }
}

/** The files of the selection that the change can reach, if only those were asked for. */
function narrow({ files, suites }) {
  if (asked.affected === undefined) return { files, paths: asked.paths, suites };
  const reached = affectedTests({
    changed: changedSince(asked.affected),
    files,
    packages: packagesOfWorkspace(),
  });
  say(`the change can reach ${reached.length} of ${files.length} test files`);
  if (reached.length > 0) return { files: reached, paths: reached, suites };
  process.stdout.write('0 passed, 0 failed\n');
  process.exit(0);
}

/** Committed since the branch left `ref`, or not committed yet. */
function changedSince(ref) {
  const refs = ref === '' ? ['origin/main', 'main'] : [ref];
  const base = refs.map((each) => tryOutput('git', ['merge-base', each, 'HEAD'])).find(Boolean);
  if (!base) fail(`--affected: ${refs.join(' and ')} name no commit`);
  const committed = tryOutput('git', ['diff', '--name-only', '--no-renames', base.trim()]) ?? '';
  const added = tryOutput('git', ['ls-files', '--others', '--exclude-standard']) ?? '';
  return [...committed.split('\n'), ...added.split('\n')].filter(Boolean);
}

function readArguments(argv) {
  const read = { affected: undefined, suites: [], paths: [], options: [], watch: false };
  for (let at = 0; at < argv.length; at++) {
    const [name, inline] = argv[at].split(/=(.*)/s);
    const value = () => inline ?? argv[++at] ?? fail(`${name} needs a value`);
    if (name === '--suite' || name === '--project') read.suites.push(suiteNamed(value()));
    else if (name === '--affected') read.affected = inline ?? '';
    else if (name === '--watch') read.watch = true;
    else if (name === '-t' || name === '--testNamePattern') read.options.push('-t', value());
    else if (name.startsWith('-')) read.options.push(argv[at]);
    else read.paths.push(argv[at].replace(`${ROOT}/`, '').replace(/^\.\//, ''));
  }
  return read;
}

function suiteNamed(name) {
  return name in SUITES ? name : fail(`--suite must be ${Object.keys(SUITES).join(', ')}, not "${name}"`);
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    say(`the tests left no readable report: ${error.message}`);
    return undefined;
  } finally {
    rmSync(file, { force: true });
  }
}
