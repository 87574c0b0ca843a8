import { join } from 'node:path';
import { CRASH_POINTS } from './measures/crash-points.js';
import { runCrashPoint } from './measures/run-crash-points.js';
import { measureFollowerCrashes } from './measures/run-follower-crash.js';
import type { Loss } from './measures/run-failover.js';
import { measureFailover } from './measures/run-failover.js';
import { percentile } from './report.js';
import { ChaosSet } from './set/chaos-set.js';
import { number, oneOf, readFlags, text } from '../support/flags.js';

// `npm run chaos -- --measure crash-points|failover|follower-crash`: one kind of fault many times, with figures.
// `--loss SIGKILL,SIGTERM,SIGSTOP`: which failovers; what follows `--` goes to the replicas (`--leader-takeover expiry`).
const flags = readFlags('npm run chaos -- --measure KIND', {
  measure: oneOf('what', ['failover', 'follower-crash', 'crash-points'], 'failover'),
  times: number('how often', 50),
  loss: text('which failovers', 'SIGKILL,SIGTERM,SIGSTOP'),
  dist: text('the built program', join(import.meta.dirname, '..', '..', 'dist')),
});
const set = await ChaosSet.start({
  dist: flags.dist,
  replicas: 3,
  random: Math.random,
  controllerArgs: flags.rest,
  // The replicas are to be measured, not proxies and journals.
  links: flags.measure === 'failover' ? 'none' : 'all',
});
const seconds = (ms: number): string => (ms / 1000).toFixed(2);
let failed = false;
try {
  if (flags.measure === 'crash-points') await crashPoints();
  else if (flags.measure === 'follower-crash') await followerCrash();
  else await failover();
} finally {
  await set.stop();
  set.remove();
}
process.exit(failed ? 1 : 0);

async function crashPoints(): Promise<void> {
  console.log('| killed | converged (s) | pods created | violations |\n|---|---:|---:|---:|');
  for (const [serial, point] of CRASH_POINTS.entries()) {
    const { convergedMs, created, violations } = await runCrashPoint(set, point, serial);
    console.log(`| ${point.name} | ${seconds(convergedMs)} | ${created} | ${violations.length} |`);
    failed ||= created !== 4 || violations.length > 0;
  }
}

async function failover(): Promise<void> {
  const rows = [];
  for (const loss of flags.loss.split(',') as Loss[])
    rows.push(await measureFailover(set, loss, flags.times, (line) => console.log(line)));
  printTimes(
    rows.flatMap(({ loss, reactedMs, takenOverMs }) => [
      { what: `leader, ${loss}: taken over`, times: takenOverMs },
      { what: `leader, ${loss}: a change observed`, times: reactedMs },
    ]),
  );
}

async function followerCrash(): Promise<void> {
  const say = (line: string): void => console.log(line);
  const { crashes, takenOverMs } = await measureFollowerCrashes(set, flags.times, say);
  printTimes([{ what: `keys of a follower, SIGKILL in a write (${crashes} times)`, times: takenOverMs }]);
}

function printTimes(rows: readonly { readonly what: string; readonly times: readonly number[] }[]): void {
  console.log('| | times | p50 (s) | p99 | max |\n|---|---:|---:|---:|---:|');
  for (const { times, what } of rows) {
    const cells = [percentile(times, 0.5), percentile(times, 0.99), Math.max(...times)];
    console.log(`| ${what} | ${times.length} | ${cells.map(seconds).join(' | ')} |`);
  }
}
