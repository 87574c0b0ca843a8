import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ApiStatusError, ObjectShard, WatchErrorEvent } from '../api-client/index.js';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import { SHARD_HASHES, keyOf } from '../../machinery/kubernetes/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { InformerHarness } from './informer-harness.fixture.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { OWNER_UID_INDEX } from './informer.js';
import { StreamingLists } from './streaming-lists.js';

/*
 * For any sequence of changes to the objects, the connection and the server's history:
 *  1. in the end the cache equals the server;
 *  2. the events, replayed from nothing, give the same state, and each fits the one before it (no addition of an
 *     existing object, no modification or deletion of a missing one);
 *  3. per object (UID) the resourceVersions never go back;
 *  4. the owner index finds what a scan finds;
 *  5. a wait for a write ends eventually, and not before the cache shows that write or something later;
 *  6. a wait for a current cache ends eventually, and not before it shows everything that the server had when it began
 *     (except what is lost on a watch that is silent but open: nothing tells).
 * On servers that stream lists, refuse to, or ignore the request; whose versions are numbers, or have no order; for all
 * namespaces at once, for each by itself, or for each shard by itself.
 */

const names = ['p', 'q', 'r', 's', 't'];
const troubles = {
  break: (h: InformerHarness) => h.server.breakWatches(),
  end: (h: InformerHarness) => h.server.endWatches(),
  silence: (h: InformerHarness) => h.server.silenceWatches(),
  expire: (h: InformerHarness) => {
    h.server.compact();
    h.server.breakWatches();
  },
  errorEvent: (h: InformerHarness) => h.server.breakWatches(new WatchErrorEvent({ code: 500 })),
  listFails: (h: InformerHarness) => {
    h.server.failNext('list', new ApiStatusError({ code: 503 }));
    h.server.breakWatches(new ApiStatusError({ code: 410 }));
  },
  watchFails: (h: InformerHarness) => {
    h.server.failNext('watch', new Error('connection refused'), 2);
    h.server.breakWatches();
  },
  compact: (h: InformerHarness) => h.server.compact(),
  bookmark: (h: InformerHarness) => h.server.bookmark(),
} as const;

const name = fc.constantFrom(...names);
const namespace = fc.constantFrom('a', 'b');
/** The hash of `a` is in the first, that of `b` in the second. */
const BETWEEN = 0xaf63de0000000000n;
const SHARDS = [
  { start: 0n, end: BETWEEN },
  { start: BETWEEN, end: SHARD_HASHES },
].map((range) => new ObjectShard('object.metadata.namespace', [range]));
const world = fc.record({
  streaming: fc.constantFrom('yes' as const, 'refused' as const, 'ignored' as const),
  isOpaque: fc.boolean(),
  parts: fc.constantFrom({}, { namespaces: ['a', 'b'] }, { shards: SHARDS }),
});
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;
/** Neither numbers nor in alphabetical order. */
const opaque = (revision: number): string =>
  `x${String(revision * 7919)
    .split('')
    .toReversed()
    .join('')}`;
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      namespace,
      name,
      owner: fc.constantFrom('u1', 'u2'),
      isAwaited: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), namespace, name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('recreate' as const), namespace, name }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('trouble' as const),
      kind: fc.constantFrom(...(Object.keys(troubles) as (keyof typeof troubles)[])),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 30, 400, 15_000) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function perform(harness: InformerHarness, action: Step, waits: Waits): Promise<void> {
  const { server, clock } = harness;
  switch (action.do) {
    case 'put': {
      const { metadata } = server.put(action.namespace, action.name, (object) => {
        const uid = action.owner;
        object.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Owner', name: uid, uid }];
      });
      if (action.isAwaited) waits.begin(metadata);
      return;
    }
    case 'delete':
      server.delete(action.namespace, action.name);
      return;
    case 'recreate':
      server.delete(action.namespace, action.name);
      server.put(action.namespace, action.name);
      return;
    case 'trouble':
      troubles[action.kind](harness);
      return;
    case 'wait':
      await clock.advance(action.ms);
  }
}

/** Waits for writes, and whether any ended too early. */
class Waits {
  pending = 0;

  constructor(
    private readonly harness: InformerHarness,
    private readonly violations: string[],
  ) {}

  begin(written: KubernetesObject['metadata']): void {
    const { informer, server, signal } = this.harness;
    const version = written.resourceVersion ?? '';
    this.pending += 1;
    void informer.waitForResourceVersion(version, signal, { namespace: written.namespace }).then(() => {
      this.pending -= 1;
      const cached = informer.lister.get(keyOf(written));
      const isShown = cached
        ? server.revisionOf(cached.metadata.resourceVersion ?? '') >= server.revisionOf(version)
        : server.wasDeletedAfter(version, keyOf(written));
      if (!isShown) this.violations.push(`${keyOf(written)} was not shown at ${version}`);
    });
  }
}

/** Waits for a current cache, and whether any ended too early. */
class CurrentWaits {
  pending = 0;

  constructor(
    private readonly harness: InformerHarness,
    private readonly violations: string[],
  ) {}

  async begin(): Promise<void> {
    const { clock, informer, server, signal } = this.harness;
    // Delivers what an open watch has.
    await clock.advance(0);
    const began = server.revisionOf(server.resourceVersion);
    const before = this.harness.stored();
    this.pending += 1;
    void informer.waitUntilCurrent(signal).then(() => {
      this.pending -= 1;
      const after = this.harness.cached();
      for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
        if (!this.isShown(before[key], after[key], { key, began }))
          this.violations.push(`${key} at ${after[key]} is older than ${before[key]}, of ${began}`);
    });
  }

  private isShown(
    before: string | undefined,
    after: string | undefined,
    { began, key }: { readonly began: number; readonly key: string },
  ): boolean {
    const { server } = this.harness;
    if (after === undefined) return before === undefined || server.wasDeletedAfter(before, key);
    return server.revisionOf(after) >= (before === undefined ? began + 1 : server.revisionOf(before));
  }
}

/** Replays events into a map and records any that does not fit the state before it. */
function replayInto(harness: InformerHarness, violations: string[]): Map<string, string | undefined> {
  const state = new Map<string, string | undefined>();
  const newestByUid = new Map<string, number>();
  harness.informer.addEventHandler((event) => {
    const { metadata } = event.object;
    const key = keyOf(metadata);
    const version = harness.server.revisionOf(metadata.resourceVersion ?? '');
    // Not with expect: an error thrown by a handler is only logged.
    if (state.has(key) !== (event.type !== 'added')) violations.push(`${event.type} of ${key} does not fit`);
    if (version < (newestByUid.get(metadata.uid ?? '') ?? 0))
      violations.push(`${key} went back to ${version}`);
    newestByUid.set(metadata.uid ?? '', version);
    if (event.type === 'deleted') state.delete(key);
    else state.set(key, metadata.resourceVersion);
  });
  return state;
}

it('ends with the server’s state, by cache and by events alike, whatever goes wrong on the way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), world, fc.nat(), async (steps, inWorld, seed) => {
      const harness = makeHarness(inWorld, seed);
      const violations: string[] = [];
      const replayed = replayInto(harness, violations);
      const waits = new Waits(harness, violations);
      await harness.start();
      for (const action of steps) await perform(harness, action, waits);
      await harness.clock.advance(120_000);

      expect(harness.cached()).toEqual(harness.stored());
      expect(Object.fromEntries([...replayed].toSorted())).toEqual(harness.stored());
      const { lister } = harness.informer;
      for (const uid of ['u1', 'u2']) {
        const scanned = lister.list().filter((object) => object.metadata.ownerReferences?.[0]?.uid === uid);
        expect(new Set(lister.byIndex(OWNER_UID_INDEX, uid))).toEqual(new Set(scanned));
      }
      await harness.stop();
      expect(violations).toEqual([]);
      expect(waits.pending, 'whoever waited for what was written went on').toBe(0);
    }),
    { ...propertyRuns({ gate: 150, nightly: 1000 }), verbose: 1 },
  );
});

it('never calls a cache current while it misses a change', async () => {
  const audible = fc.array(
    step.filter((each) => each.do !== 'trouble' || each.kind !== 'silence'),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(audible, world, fc.nat(), async (steps, inWorld, seed) => {
      const harness = makeHarness(inWorld, seed);
      const violations: string[] = [];
      const waits = new Waits(harness, violations);
      const currentWaits = new CurrentWaits(harness, violations);
      await harness.start();
      for (const action of steps) {
        if (action.do === 'wait') await currentWaits.begin();
        await perform(harness, action, waits);
      }
      await harness.clock.advance(120_000);
      await harness.stop();
      expect(violations).toEqual([]);
      expect(currentWaits.pending, 'every wait for a current cache has ended').toBe(0);
    }),
    { ...propertyRuns({ gate: 150, nightly: 1000 }), verbose: 1 },
  );
});

function makeHarness({ isOpaque, parts, streaming }: World, seed: number): InformerHarness {
  const options = { pageSize: 2, watchTimeoutSeconds: 5, ...parts };
  const streamingLists = new StreamingLists(new FakeClock());
  const harness = new InformerHarness({ ...options, streamingLists }, seed);
  harness.server.streaming = streaming;
  if (isOpaque) harness.server.versionOf = opaque;
  return harness;
}
