import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { faultKindsOn } from './faults/fault.js';
import { SeededRandom } from './random.js';
import { renderReport } from './report.js';
import { ChaosRun } from './run.js';
import { createSchedule } from './schedule.js';
import type { RedisKind } from './set/chaos-set.js';
import { ChaosSet } from './set/chaos-set.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string', default: '3' },
    deployments: { type: 'string', default: '50' },
    replicas: { type: 'string', default: '3' },
    'round-seconds': { type: 'string', default: '60' },
    faults: { type: 'string', default: '' },
    // single, sentinel or cluster: what the replicas share.
    redis: { type: 'string', default: 'single' },
    report: { type: 'string' },
    dist: { type: 'string', default: join(import.meta.dirname, '..', '..', 'dist') },
    keep: { type: 'boolean', default: false },
    'stop-at-violation': { type: 'boolean', default: false },
    // On a machine that does other things too, what is late says little.
    patience: { type: 'string', default: '1' },
    'log-level': { type: 'string', default: 'info' },
  },
});

const seed = Number(values.seed);
const minutes = Number(values.minutes);
const startedAt = performance.now();
const say = (line: string): void => {
  const at = ((performance.now() - startedAt) / 1000).toFixed(1);
  for (const part of line.split('\n')) console.log(`${at.padStart(7)}  ${part}`);
};
const wanted = values.faults.split(',').map((word) => word.trim());
const redis = values.redis as RedisKind;
if (!['single', 'sentinel', 'cluster'].includes(redis))
  throw new Error(`--redis ${redis}: single, sentinel or cluster`);
const kinds = faultKindsOn(redis).filter((kind) => wanted.some((word) => kind.includes(word)));
const roundMs = Number(values['round-seconds']) * 1000;
const rounds = Math.max(Math.ceil((minutes * 60_000) / roundMs), 1);
const random = new SeededRandom(seed ^ 0x5eed);
const schedule = createSchedule({ seed, kinds, roundMs, rounds, gapMs: [2000, 7000] });

say(`seed ${seed}`);
const set = await ChaosSet.start({
  dist: values.dist,
  redis,
  replicas: Number(values.replicas),
  random: () => random.next(),
  controllerArgs: ['--log-level', values['log-level']],
});
say(`data in ${set.dataDir}`);
const end = (): void => void set.stop().finally(() => process.exit(130));
process.once('SIGINT', end).once('SIGTERM', end);
let failed = true;
try {
  const run = new ChaosRun({
    ...{ seed, set, schedule, random, say },
    deployments: Number(values.deployments),
    pauseMs: 250,
    longestMs: minutes * 60_000,
    stopAtViolation: values['stop-at-violation'],
    patience: Number(values.patience),
  });
  const record = await run.run();
  const report = renderReport(record);
  console.log(report);
  if (values.report) writeFileSync(values.report, `${report}\n`);
  failed = record.violations.length > 0;
  if (failed && values['stop-at-violation']) {
    say(`everything is left running; press Ctrl-C to end it`);
    await new Promise(() => setInterval(() => undefined, 60_000));
  }
} finally {
  await set.stop();
  if (failed || values.keep)
    say(
      `kept ${set.dataDir}; the same again: npm run chaos -- --redis ${redis} --seed ${seed} --minutes ${minutes}`,
    );
  else set.remove();
}
process.exit(failed ? 1 : 0);
