import { parseArgs } from 'node:util';
import { measureUpgrade } from './measures/run-upgrade.js';
import { SeededRandom } from './random.js';
import { ChaosSet } from './set/chaos-set.js';

// `npm run upgrade-test`: two versions together, one taking the other's place, and back.
const { values } = parseArgs({
  options: {
    old: { type: 'string', default: '' },
    new: { type: 'string', default: '' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    deployments: { type: 'string', default: '30' },
    'pause-ms': { type: 'string', default: '100' },
    'side-by-side-seconds': { type: 'string', default: '10' },
    // On a machine that does other things too, what is late says little.
    patience: { type: 'string', default: '1' },
  },
});
/** What was asked for: so long nobody works, at most. */
const LONGEST_GAP_MS = 1000;

const seed = Number(values.seed);
const rows: string[] = [];
let failed = false;
for (const [what, from, to] of [
  ['upgrade', values.old, values.new],
  ['rollback', values.new, values.old],
] as const) {
  const random = new SeededRandom(seed);
  const say = (line: string): void => console.log(`${what}: ${line}`);
  say(`seed ${seed}, ${from} → ${to}`);
  const set = await ChaosSet.start({ dist: from, replicas: 3, random: () => random.next(), links: 'none' });
  let isFine = false;
  try {
    const { acknowledged, replicasGapMs, serversGapMs, violations } = await measureUpgrade(set, to, {
      seed,
      deployments: Number(values.deployments),
      pauseMs: Number(values['pause-ms']),
      sideBySideMs: Number(values['side-by-side-seconds']) * 1000,
      say,
    });
    for (const { check, problem, subject } of violations) say(`VIOLATION ${check}: ${subject}: ${problem}`);
    const isLate = replicasGapMs > LONGEST_GAP_MS * Number(values.patience);
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
