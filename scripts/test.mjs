// `npm test`: sets up what is missing, checks the sources, and runs every test. The last line counts.
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, say } from './lib/run.mjs';
import {
  ROOT,
  ensureBuild,
  ensureChromium,
  ensureDependencies,
  ensureHelm,
  ensureKubectl,
  ensureNode,
  ensureOldKubectl,
  ensureRedis,
} from './lib/setup.mjs';

await ensureDependencies();
const node = ensureNode();
ensureRedis();
ensureKubectl();
ensureChromium();
const oldKubectl = ensureOldKubectl();
const helm = ensureHelm();
await ensureBuild(node);

const report = join(tmpdir(), `rollkeeper-tests-${process.pid}.json`);
const vitest = join('node_modules', 'vitest', 'vitest.mjs');
const args = [
  vitest,
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
];
const env = {
  ...process.env,
  PATH: `${join(node, '..')}:${process.env.PATH}`,
  ...(helm ? { ROLLKEEPER_HELM: helm } : {}),
  ...(oldKubectl ? { ROLLKEEPER_OLD_KUBECTL: oldKubectl } : {}),
};
const exitCode = await run(node, args, { cwd: ROOT, env });

const { passed, failed, skipped } = count(report);
if (skipped.length > 0) {
  say(`skipped, because something they need is not on this machine:`);
  for (const name of skipped) say(`  ${name}`);
}
process.stdout.write(
  `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}\n`,
);
process.exitCode = exitCode !== 0 || failed > 0 || passed === 0 ? 1 : 0;

function count(file) {
  try {
    const results = JSON.parse(readFileSync(file, 'utf8'));
    // A file fails without a failed test where it cannot be loaded, or a hook of it fails; its tests do not run then.
    const isBroken = ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed');
    const brokenFiles = results.testResults.filter(isBroken).length;
    const skipped = results.testResults
      .filter((file) => !isBroken(file))
      .flatMap(({ assertionResults }) =>
        assertionResults
          .filter(({ status }) => status === 'skipped' || status === 'pending' || status === 'todo')
          .map(({ fullName }) => fullName),
      );
    return { passed: results.numPassedTests, failed: results.numFailedTests + brokenFiles, skipped };
  } catch (error) {
    say(`the tests left no readable report: ${error.message}`);
    return { passed: 0, failed: 1, skipped: [] };
  } finally {
    rmSync(file, { force: true });
  }
}
