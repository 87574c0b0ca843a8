import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { ApiClient } from '../src/client/api-client/index.js';
import { EVENTS, JOBS, PODS } from '../src/machinery/kubernetes/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import { number, readFlags, text } from '../test/support/flags.js';
import { ProcessSet, ROLES } from './support/process-set.js';

/*
 * Whether anything grows with the objects that ever existed: short-lived Jobs, so many a second, for as long as is said. The heap of
 * each process after a garbage collection, and what Redis uses, before and after; both at rest, with the Events deleted that would
 * stay for an hour. A first load fills what has a fixed size: the log of changes, the newest decisions, traces and objects.
 *
 * Fails if one of them has grown by more than the tolerance.
 */

const flags = readFlags('npm run soak --', {
  minutes: number('how long Jobs are created', 60),
  jobs: number('Jobs a second', 20),
  fillMinutes: number('how long the first load takes, which is not measured', 5),
  restSeconds: number(
    'from the last Job until it is measured; what a key leaves behind stays for a minute',
    150,
  ),
  tolerance: number('by how many percent heap and memory may have grown', 5),
  main: text('the program to measure', join(import.meta.dirname, '..', 'dist', 'main.js')),
});

/** MiB by what uses it. */
type Figures = ReadonlyMap<string, number>;

const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-soak-'));
const preload = join(import.meta.dirname, 'support', 'heap-after-gc.mjs');
const set = await ProcessSet.start({
  main: flags.main,
  env: { HEAP_DIR: folder, NODE_OPTIONS: `--import=${preload}` },
});
try {
  await set.add('node');
  await set.addReplica(['--standalone']);
  const client = await set.client();
  await load(client, flags.fillMinutes, 'fill');
  const before = await measure(client, 'before');
  const created = await load(client, flags.minutes, 'soak');
  const after = await measure(client, 'after');
  process.exitCode = report(before, after, created);
} finally {
  await set.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Returns how many Jobs there were. */
async function load(client: ApiClient, minutes: number, name: string): Promise<number> {
  const endMs = performance.now() + minutes * 60_000;
  const beganMs = performance.now();
  const underWay = new Set<Promise<unknown>>();
  let created = 0;
  while (performance.now() < endMs) {
    const due = Math.floor(((performance.now() - beganMs) / 1000) * flags.jobs);
    for (; created < due && underWay.size < 10 * flags.jobs; created++) {
      const creating = client
        .create(JOBS, shortJob(`${name}-${created}`))
        .finally(() => underWay.delete(creating));
      underWay.add(creating);
    }
    await sleep(50);
  }
  await Promise.all(underWay);
  await waitFor(async () => (await count(client, JOBS)) + (await count(client, PODS)) === 0, {
    timeoutMs: 600_000,
    intervalMs: 1000,
    what: 'all Jobs and their pods to be deleted',
  });
  return created;
}

/** Ends after half a second and is deleted a second later, with its pod. */
function shortJob(name: string) {
  const containers = [{ name: 'main', image: 'busybox', command: ['sleep', '0.5'] }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: {
      ttlSecondsAfterFinished: 1,
      template: { metadata: {}, spec: { restartPolicy: 'Never', containers } },
    },
  };
}

async function count(client: ApiClient, type: typeof JOBS): Promise<number> {
  const { items } = await client.list(type, { namespace: 'default', limit: 1 });
  return items.length;
}

async function measure(client: ApiClient, when: string): Promise<Figures> {
  await client.deleteCollection(EVENTS, { namespace: 'default' });
  await sleep(flags.restSeconds * 1000);
  writeFileSync(join(folder, 'ask'), when);
  const figures = new Map<string, number>();
  for (const role of ROLES) figures.set(role, await heapOf(set.pidOf(role), when));
  const redis = new Redis(set.redisUrl);
  const used = /used_memory:(\d+)/.exec(await redis.info('memory'))?.[1];
  figures.set('redis', Number(used) / 2 ** 20);
  figures.set('keys in Redis', await redis.dbsize());
  redis.disconnect();
  return figures;
}

async function heapOf(pid: number, when: string): Promise<number> {
  let heap: number | undefined;
  await waitFor(
    () => {
      const [asked, bytes] = readAnswer(pid).split(' ');
      if (asked === when) heap = Number(bytes) / 2 ** 20;
      return heap !== undefined;
    },
    { timeoutMs: 30_000, intervalMs: 100, what: `the heap of process ${pid}` },
  );
  return heap ?? NaN;
}

function readAnswer(pid: number): string {
  try {
    return readFileSync(join(folder, String(pid)), 'utf8');
  } catch {
    return '';
  }
}

/** Returns the exit code. */
function report(before: Figures, after: Figures, created: number): number {
  console.log(`${created} Jobs in ${flags.minutes} minutes`);
  let exitCode = 0;
  for (const [what, old] of before) {
    const now = after.get(what) ?? NaN;
    const grown = (now / old - 1) * 100;
    const isTooMuch = !(grown <= flags.tolerance);
    if (isTooMuch) exitCode = 1;
    console.log(
      `${what.padEnd(14)} ${old.toFixed(1)} → ${now.toFixed(1)} (${grown.toFixed(1)} %)${isTooMuch ? ' GREW' : ''}`,
    );
  }
  return exitCode;
}
