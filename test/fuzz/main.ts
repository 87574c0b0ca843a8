import { join } from 'node:path';
import { FuzzRun } from './fuzz-run.js';
import type { FuzzReport } from './fuzz-run.js';
import { FuzzedServer } from './fuzzed-server.js';
import { ALL_SEEDS } from './seeds/index.js';
import { writeFindings } from './write-findings.js';
import { number, readFlags, seed as seedFlag, text, yes } from '../support/flags.js';

const flags = readFlags('npm run fuzz --', {
  seed: seedFlag(),
  requests: number('that chance makes, after what people have thought of', 20_000),
  only: text('of what people have thought of, that whose name contains this'),
  minutes: number('after which no request is begun; 0: none', 0),
  easier: number('so many times smaller floods', 1),
  patient: yes('nothing is judged by the clock'),
  dist: text('the built program', join(import.meta.dirname, '..', '..', 'dist')),
});

const startedAt = performance.now();
const say = (line: string): void => {
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)}  ${line}`);
};
const { seed } = flags;
say(`seed ${seed}`);
const run = new FuzzRun({
  start: () => FuzzedServer.start({ dist: flags.dist }),
  seed,
  requests: flags.requests,
  seeds: ALL_SEEDS.filter(({ name }) => name.includes(flags.only)),
  easier: flags.easier,
  patient: flags.patient,
  ...(flags.minutes > 0 && { enough: AbortSignal.timeout(flags.minutes * 60_000) }),
  say,
});
const found = await run.run();
tell(found);
process.exitCode = found.findings.length > 0 ? 1 : 0;

function tell(report: FuzzReport): void {
  const { after, before, findings, slowestBystanderMs, slowestRequestMs, statuses, unjudged } = report;
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  say(`answers ${counts.join(', ') || 'none'}`);
  say(
    `the slowest request took ${slowestRequestMs.toFixed(0)} ms, others waited ${slowestBystanderMs.toFixed(0)} ms`,
  );
  const mib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
  say(
    `RSS ${mib(before.rss)} before, ${mib(after.rss)} after; heap ${mib(before.heapUsed)}, ${mib(after.heapUsed)}`,
  );
  if (unjudged.length > 0) say(`the store did not answer during: ${unjudged.join('; ')}`);
  say(`${findings.length} findings`);
  if (findings.length > 0) say(`in full: ${writeFindings(seed, findings)}`);
}
