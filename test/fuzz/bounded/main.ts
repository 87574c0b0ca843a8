import { join } from 'node:path';
import { number, readFlags, seed as seedFlag, text, yes } from '../../support/flags.js';
import { writeFindings } from '../write-findings.js';
import { BoundedRun } from './bounded-run.js';
import { startBoundedServer } from './start-bounded-server.js';

// `npm run fuzz -- --bounded`: users with rights in one namespace each.
const flags = readFlags('npm run fuzz -- --bounded', {
  bounded: yes('users with rights in one namespace, in place of the administrator'),
  seed: seedFlag(),
  requests: number('how many', 20_000),
  patient: yes('nothing is judged by the clock'),
  dist: text('the built program', join(import.meta.dirname, '..', '..', '..', 'dist')),
});
const { patient, requests, seed } = flags;
const startedAt = performance.now();
const say = (line: string): void =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)}  ${line}`);
say(`seed ${seed}, ${requests} requests`);
const server = await startBoundedServer(flags.dist);
try {
  const run = new BoundedRun(server, { seed, requests, say, isPatient: patient });
  const { findings, slowestBystanderMs, statuses } = await run.run();
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  say(`answers ${counts.join(', ')}`);
  say(`others waited ${slowestBystanderMs.toFixed(0)} ms at most`);
  say(`${findings.length} findings`);
  if (findings.length > 0) say(`in full: ${writeFindings(seed, findings)}`);
  process.exitCode = findings.length > 0 ? 1 : 0;
} finally {
  await server.stop();
}
