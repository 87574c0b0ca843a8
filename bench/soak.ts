import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../src/client/api-client/index.js';
import type { Kind } from '../src/machinery/kubernetes/index.js';
import { untyped, Event, Job, Pod } from '../src/machinery/kubernetes/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import { number, readFlags, text } from '../test/support/flags.js';
import type { Figures } from './support/soaked-up.js';
import { KEYS_IN_REDIS, REDIS, SoakedUp } from './support/soaked-up.js';

/*
 * Whether anything grows with the objects that ever existed, of what `npm start` runs: short-lived Jobs, so many a second as are asked
 * for or as the machine manages, for as long as is said. The heap of each process after a garbage collection, and what Redis uses,
 * before and after. Both are taken at rest, after what has an age limit has passed it: the log of changes (5 minutes, compacted every
 * 30 s), and what a key leaves behind (a minute). Events, which stay for an hour, are deleted. A first load fills what has a fixed
 * size and no age limit: Events that are remembered to be counted (4096), decisions (of 5000 keys), traces. It has the shape of the
 * second one, since another mixture of keys has more decisions for each, and each replica leads during a part of it: some memories are
 * the leader's.
 *
 * Fails if one of them has grown by more than the tolerance.
 */

const flags = readFlags('npm run soak --', {
  minutes: number('how long Jobs are created', 60),
  jobs: number('Jobs a second; fewer if there are too many at a time', 20),
  atATime: number('how many Jobs there are at most at a time', 200),
  fillJobs: number('Jobs of the first load for each replica, which is not measured', 4500),
  restSeconds: number('from the last Job until it is measured', 360),
  replicas: number('replicas of `up`', 3),
  tolerance: number('by how many percent heap and memory may have grown', 5),
  main: text('the program to measure', join(import.meta.dirname, '..', 'dist', 'main.js')),
});
/**
 * Growth that is none. Single keys come and go: answers to commands, BullMQ's markers. What replicas remember of Events is in four
 * hashes that are half full at least (`RedisEventLedger`), MiB.
 */
const SLACK: ReadonlyMap<string, number> = new Map([
  [KEYS_IN_REDIS, 20],
  [REDIS, 1],
]);
const TELL_EVERY_MS = 60_000;

const up = await SoakedUp.start(flags);
try {
  const fresh = await up.measure();
  for (const replica of up.replicas) {
    await up.giveLeadTo(replica);
    await load(`fill-${replica}`, { count: flags.fillJobs });
  }
  const before = await measureAtRest('before');
  const loaded = await load('soak', { seconds: flags.minutes * 60 });
  const after = await measureAtRest('after');
  process.exitCode = report({ fresh, before, after }, loaded);
} finally {
  await up.stop();
}

interface Loaded {
  readonly created: number;
  /** From the first Job to the last one. */
  readonly seconds: number;
}

/** Creates Jobs until there were so many, or for so long, and waits until all are gone. */
async function load(name: string, until: { count?: number; seconds?: number }): Promise<Loaded> {
  const { count = Infinity, seconds = Infinity } = until;
  const beganMs = performance.now();
  const passed = (): number => (performance.now() - beganMs) / 1000;
  let created = 0;
  let toldMs = beganMs;
  while (created < count && passed() < seconds) {
    const room = flags.atATime - (await countOf(up.client, Job, flags.atATime));
    const due = Math.floor(Math.min(passed() * flags.jobs, count)) - created;
    const names = Array.from({ length: Math.max(Math.min(room, due), 0) }, () => `${name}-${created++}`);
    await Promise.all(names.map((each) => up.client.create(untyped(Job), shortJob(each))));
    await sleep(250);
    if (performance.now() - toldMs < TELL_EVERY_MS) continue;
    toldMs = performance.now();
    console.log(`${name}: ${created} Jobs in ${passed().toFixed(0)} s, load ${loadavg()[0]?.toFixed(1)}`);
  }
  const loaded = { created, seconds: passed() };
  await waitFor(async () => (await countOf(up.client, Job, 1)) + (await countOf(up.client, Pod, 1)) === 0, {
    timeoutMs: 600_000,
    intervalMs: 1000,
    what: 'all Jobs and their pods to be deleted',
  });
  return loaded;
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

/** @param limit more than that are not counted */
async function countOf(client: ApiClient, type: Kind, limit: number): Promise<number> {
  const { items } = await client.list(type, { namespace: 'default', limit, metadataOnly: true });
  return items.length;
}

async function measureAtRest(when: string): Promise<Figures> {
  await deleteEvents(up.client);
  await sleep(flags.restSeconds * 1000);
  const figures = await up.measure();
  console.log(`${when}: ${[...figures].map(([what, value]) => `${what} ${value.toFixed(1)}`).join(', ')}`);
  return figures;
}

/** There are so many that one request may not live to see the end of them. */
async function deleteEvents(client: ApiClient): Promise<void> {
  await waitFor(
    async () => {
      await client.deleteCollection(Event, { namespace: 'default' }).catch(() => undefined);
      return (await countOf(client, Event, 1)) === 0;
    },
    { timeoutMs: 600_000, intervalMs: 1000, what: 'all Events to be deleted' },
  );
}

/** Prints a table. Returns the exit code. */
function report(
  { fresh, before, after }: Readonly<Record<'fresh' | 'before' | 'after', Figures>>,
  { created, seconds }: Loaded,
): number {
  const rate = (created / seconds).toFixed(1);
  console.log(
    `\n${created} Jobs in ${(seconds / 60).toFixed(1)} minutes (${rate} a second), ${flags.replicas} replicas, ` +
      `${availableParallelism()} cores, node ${process.version}\n`,
  );
  console.log('| heap, or memory of Redis (MiB) | at the start | before | after | growth |');
  console.log('| --- | ---: | ---: | ---: | ---: |');
  let exitCode = 0;
  for (const [what, old] of before) {
    const now = after.get(what) ?? NaN;
    const grown = (now / old - 1) * 100;
    const isTooMuch = !(grown <= flags.tolerance) && !(now <= old + (SLACK.get(what) ?? 0));
    if (isTooMuch) exitCode = 1;
    const cells = [fresh.get(what) ?? NaN, old, now].map((value) =>
      value.toFixed(what === KEYS_IN_REDIS ? 0 : 1),
    );
    console.log(`| ${what} | ${cells.join(' | ')} | ${grown.toFixed(1)} %${isTooMuch ? ' TOO MUCH' : ''} |`);
  }
  return exitCode;
}
