import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import type { FollowedLog } from './follow-log.js';
import { followLog } from './follow-log.js';
import type { LogEntry } from './log-entry.js';
import { WatchRing } from './watch-ring.js';

const RESOURCES = ['pods', 'services', 'nodes'];
/** Pods and nodes change seldom. */
const ANY_RESOURCE = fc.oneof(
  { weight: 30, arbitrary: fc.constant('services') },
  { weight: 1, arbitrary: fc.constantFrom('pods', 'nodes') },
);
const WAKE_EVERY_MS = 10;
const PROGRESS_MS = 25;

/** So few entries are kept that a watcher which does not move on while its resource is quiet loses its place. */
const KEPT = 24;

it('a watcher gets every entry of its resource once and in order, however many writes other resources have', async () => {
  const step = fc.record({
    resources: fc.array(ANY_RESOURCE, { minLength: 1, maxLength: 4 }),
    waitMs: fc.integer({ min: 3, max: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const clock = new FakeClock();
      const limits = { maxEntries: KEPT, maxTextLength: Infinity, wakeEveryMs: WAKE_EVERY_MS };
      const ring = new WatchRing({ revision: 0, writeId: 'w0' }, limits, clock);
      const ended = new AbortController();
      const seen = new Map(RESOURCES.map((resource) => [resource, [] as number[]]));
      const watching = RESOURCES.map(async (resource) => {
        const options = { resource, after: 0 };
        for await (const events of followLog(followed(ring), options, clock, ended.signal))
          for (const { revision, type } of events)
            if (type !== 'progress') seen.get(resource)!.push(revision);
      });
      const written = new Map(RESOURCES.map((resource) => [resource, [] as number[]]));
      for (const { resources, waitMs } of steps) {
        for (const [at, resource] of resources.entries()) written.get(resource)!.push(ring.last + 1 + at);
        for (const resource of resources) ring.append([entryAfter(ring, resource)]);
        await clock.advance(waitMs);
      }
      await clock.advance(WAKE_EVERY_MS);
      expect(seen).toEqual(written);
      ended.abort();
      await Promise.all(watching);
    }),
  );
});

it('a watcher of a quiet resource reports progress up to the newest write', async () => {
  const clock = new FakeClock();
  const ring = new WatchRing(
    { revision: 0, writeId: 'w0' },
    { maxEntries: KEPT, maxTextLength: Infinity, wakeEveryMs: 0 },
    clock,
  );
  const ended = new AbortController();
  const options = { resource: 'pods', after: 0, progressIntervalMs: PROGRESS_MS };
  const events = followLog(followed(ring), options, clock, ended.signal);
  const first = events.next();
  await clock.advance(1);
  for (let count = 0; count < 5; count++) ring.append([entryAfter(ring, 'services')]);
  await clock.advance(PROGRESS_MS);
  expect((await first).value).toEqual([{ type: 'progress', revision: 5 }]);
  ended.abort();
  await events.next();
});

function followed(ring: WatchRing): FollowedLog {
  return {
    get last() {
      return ring.last;
    },
    readAfter: async (revision) => {
      const entries = ring.after(revision, 3);
      if (!entries) throw new Error(`the place after ${revision} is lost`);
      return entries;
    },
    onChange: (resource, wake) => ring.onChange(resource, wake),
    quietUntil: (resource) => ring.quietUntil(resource),
  };
}

function entryAfter(ring: WatchRing, resource: string): LogEntry {
  const { last, lastWriteId } = ring;
  return {
    type: 'created',
    key: { resource, namespace: 'default', name: `n${last}` },
    revision: last + 1,
    text: '{}',
    writeId: `w${last + 1}`,
    previousRevision: last,
    previousWriteId: lastWriteId,
  };
}
