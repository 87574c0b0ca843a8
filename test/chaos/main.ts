import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../src/machinery/listening.js';
import { ConsoleWatch } from './console-watch.js';
import { faultKindsOn } from './faults/fault.js';
import { POLICY_FLAGS, flagsOfSlots } from './policy-world.js';
import { SeededRandom } from './random.js';
import { renderReport } from './report.js';
import { LOAD_NAMESPACE } from './namespaces.js';
import { ChaosRun } from './run.js';
import { createSchedule } from './schedule.js';
import { COORDINATIONS, ChaosSet, REDIS_KINDS } from './set/chaos-set.js';
import { number, oneOf, readFlags, seed as seedFlag, text, yes } from '../support/flags.js';

const flags = readFlags('npm run chaos --', {
  seed: seedFlag(),
  minutes: number('how long, about', 3),
  deployments: number('worked on meanwhile', 50),
  replicas: number('of the controller; 0: three, or four with slots', 0),
  slots: number('over which the replicas spread the namespaces; 0: none', 0),
  schedulers: number('of which one schedules; 0: the simulated nodes do', 2),
  roundSeconds: number('after which everything must come to rest', 60),
  faults: text('only those whose name holds one of these words, with commas between; empty: all'),
  redis: oneOf('what the replicas share', REDIS_KINDS, 'single'),
  coordination: oneOf(
    'how they share their work; leases: by a Lease, without a Redis',
    COORDINATIONS,
    'redis',
  ),
  report: text('a file for the report'),
  dist: text('the built program', join(import.meta.dirname, '..', '..', 'dist')),
  keep: yes('keep the data, also of a run that went well'),
  stopAtViolation: yes('leave everything running at the first violation'),
  patience: number('times as late is not late yet, on a machine that does other things too', 1),
  console: yes('keep the console of the first replica open in Chromium'),
  logLevel: text('of the replicas', 'info'),
});

const { coordination, minutes, redis, seed, slots } = flags;
const replicas = flags.replicas || (slots > 0 ? 4 : 3);
if (coordination === 'leases' && redis !== 'single')
  throw new Error('redis: with coordination leases the replicas share none, and only the API server has one');
if (slots > 0 && coordination === 'leases') throw new Error('slots: need a Redis that the replicas share');
if (slots > 0 && flags.console)
  throw new Error('console: its check knows the load of one namespace, and slots spread it over several');
const startedAt = performance.now();
const say = (line: string): void => {
  const at = ((performance.now() - startedAt) / 1000).toFixed(1);
  for (const part of line.split('\n')) console.log(`${at.padStart(7)}  ${part}`);
};
const wanted = flags.faults.split(',').map((word) => word.trim());
const kinds = faultKindsOn(redis, coordination).filter((kind) => wanted.some((word) => kind.includes(word)));
const roundMs = flags.roundSeconds * 1000;
const rounds = Math.max(Math.ceil((minutes * 60_000) / roundMs), 1);
const random = new SeededRandom(seed ^ 0x5eed);
const schedule = createSchedule({ seed, kinds, roundMs, rounds, gapMs: [2000, 7000] });

say(`seed ${seed}`);
// A replica that starts again has its console where it was.
const adminPorts = await Promise.all(Array.from({ length: replicas }, () => freePort()));
const set = await ChaosSet.start({
  dist: flags.dist,
  redis,
  coordination,
  replicas,
  slots,
  schedulers: flags.schedulers,
  random: () => random.next(),
  controllerArgs: (index) => [
    ...['--log-level', flags.logLevel, '--admin-port', String(adminPorts[index])],
    ...[...POLICY_FLAGS, ...flagsOfSlots(slots)],
  ],
});
say(`data in ${set.dataDir}`);
const end = (): void => void set.stop().finally(() => process.exit(130));
process.once('SIGINT', end).once('SIGTERM', end);
let failed = true;
let page: ConsoleWatch | undefined;
try {
  if (flags.console)
    page = await ConsoleWatch.open({
      ...{ client: set.client, namespace: LOAD_NAMESPACE, patience: flags.patience, say },
      adminUrl: `http://127.0.0.1:${adminPorts[0]}`,
    });
  const run = new ChaosRun({
    ...{ seed, set, schedule, random, say },
    deployments: flags.deployments,
    pauseMs: 250,
    longestMs: minutes * 60_000,
    stopAtViolation: flags.stopAtViolation,
    patience: flags.patience,
    console: page,
  });
  const record = await run.run();
  const report = renderReport(record);
  console.log(report);
  if (flags.report) writeFileSync(flags.report, `${report}\n`);
  failed = record.violations.length > 0;
  if (failed && flags.stopAtViolation) {
    say(`everything is left running; press Ctrl-C to end it`);
    await new Promise(() => setInterval(() => undefined, 60_000));
  }
} finally {
  await page?.close();
  await set.stop();
  if (failed || flags.keep)
    say(
      `kept ${set.dataDir}; the same again: npm run chaos -- --redis ${redis} --coordination ${coordination} --slots ${slots} --seed ${seed} --minutes ${minutes}`,
    );
  else set.remove();
}
process.exit(failed ? 1 : 0);
