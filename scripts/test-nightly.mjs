// `npm run test:nightly`: what takes too long for every change and must pass before a release. The unit and integration tests once
// more, their properties with other seeds and many runs; the nightly suite; then faults at random, requests at random, foreign
// clients, and the last release beside this one. The last line counts all of it. With paths or options: only the nightly suite.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { STOP_SIGNALS, endWithUs, run, say } from './lib/run.mjs';
import { ROOT } from './lib/setup.mjs';

const SEED = process.env.SEED ?? String(randomInt(2 ** 31));
const SCRIPTS = [
  // On a shared machine a late result proves nothing; a lost or doubled one does.
  ['chaos.mjs', '--seed', '1', '--minutes', '2', '--patience', '6'],
  ['chaos.mjs', '--minutes', '5', '--patience', '6'],
  ['chaos.mjs', '--coordination', 'leases', '--minutes', '5', '--patience', '6'],
  ['fuzz.mjs', '--requests', '20000', '--patient'],
  ['fuzz.mjs', '--admin', '--requests', '5000'],
  ['clients.mjs'],
  ['upgrade-test.mjs', '--patience', '10'],
];

const env = { ...process.env, ROLLKEEPER_NIGHTLY: '1', SEED };
const script = (name) => join(ROOT, 'scripts', name);
const args = process.argv.slice(2);
/** Whether a signal has asked for the end: the running script is ended, and no other begins. */
let isStopped = false;
for (const signal of STOP_SIGNALS) process.once(signal, () => (isStopped = true));
say(`the properties have SEED=${SEED}`);

if (args.length > 0) {
  const nightly = [script('test.mjs'), '--suite', 'nightly', ...args];
  process.exitCode = await run(process.execPath, nightly, { cwd: ROOT, env });
} else {
  const suites = ['unit', 'integration', 'nightly'].flatMap((suite) => ['--suite', suite]);
  const tests = await runAndCount([script('test.mjs'), ...suites]);
  const outcomes = [];
  for (const [name, ...given] of SCRIPTS) {
    if (isStopped) break;
    const exitCode = await run(process.execPath, [script(name), ...given], { cwd: ROOT, env });
    outcomes.push({ what: [name, ...given].join(' '), isGood: exitCode === 0 });
  }
  for (const { isGood, what } of outcomes) say(`${isGood ? 'passed' : 'FAILED'}: ${what}`);
  const good = outcomes.filter(({ isGood }) => isGood).length;
  // A script that did not run has not passed.
  const failed = tests.failed + SCRIPTS.length - good;
  process.stdout.write(`${tests.passed + good} passed, ${failed} failed${tests.more}\n`);
  process.exitCode = failed > 0 || tests.exitCode !== 0 ? 1 : 0;
}

/** Runs the tests, shows what they print, and reads their last line. */
function runAndCount(command) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, command, { cwd: ROOT, env, stdio: ['inherit', 'pipe', 'inherit'] });
    let last = '';
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      last = (last + chunk).slice(-1000);
    });
    child.on('error', reject);
    const release = endWithUs(child);
    child.on('close', (exitCode) => {
      release();
      const [, passed = 0, failed = 1, more = ''] = /(\d+) passed, (\d+) failed(.*)\n$/.exec(last) ?? [];
      resolve({ passed: Number(passed), failed: Number(failed), more, exitCode });
    });
  });
}
