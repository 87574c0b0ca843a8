import { measureUpgrade } from './measures/run-upgrade.js';
import { SeededRandom } from './random.js';
import { ChaosSet } from './set/chaos-set.js';
import { number, readFlags, seed as seedFlag, text } from '../support/flags.js';

// `npm run upgrade-test`: two versions together, one taking the other's place, and back.
const flags = readFlags('npm run upgrade-test --', {
  old: text('the built program of the one version'),
  new: text('and of the other'),
  seed: seedFlag(),
  deployments: number('worked on meanwhile', 30),
  pauseMs: number('between two changes', 100),
  sideBySideSeconds: number('how long both versions run together', 10),
  patience: number('times as late is not late yet, on a machine that does other things too', 1),
});
/** The longest time that no replica may work, as the goal says. */
const LONGEST_GAP_MS = 1000;

const { seed } = flags;
const rows: string[] = [];
let failed = false;
for (const [what, from, to] of [
  ['upgrade', flags.old, flags.new],
  ['rollback', flags.new, flags.old],
] as const) {
  const random = new SeededRandom(seed);
  const say = (line: string): void => console.log(`${what}: ${line}`);
  say(`seed ${seed}, ${from} → ${to}`);
  const set = await ChaosSet.start({ dist: from, replicas: 3, random: () => random.next(), links: 'none' });
  let isFine = false;
  try {
    const { acknowledged, replicasGapMs, serversGapMs, violations } = await measureUpgrade(set, to, {
      seed,
      deployments: flags.deployments,
      pauseMs: flags.pauseMs,
      sideBySideMs: flags.sideBySideSeconds * 1000,
      say,
    });
    for (const { check, problem, subject } of violations) say(`VIOLATION ${check}: ${subject}: ${problem}`);
    const isLate = replicasGapMs > LONGEST_GAP_MS * flags.patience;
    if (isLate) say(`${Math.round(replicasGapMs)} ms without a change`);
    isFine = violations.length === 0 && !isLate;
    const gaps = [replicasGapMs, serversGapMs].map((ms) => (ms / 1000).toFixed(2));
    rows.push(`| ${what} | ${acknowledged} | ${gaps.join(' | ')} | ${violations.length} |`);
  } finally {
    await set.stop();
    if (isFine) set.remove();
    else say(`kept ${set.dataDir}`);
  }
  failed ||= !isFine;
}
console.log(
  '| | changes | longest gap, replicas (s) | with the API server (s) | violations |\n|---|---:|---:|---:|---:|',
);
console.log(rows.join('\n'));
process.exit(failed ? 1 : 0);
