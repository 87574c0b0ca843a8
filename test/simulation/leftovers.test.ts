import { describe, expect, it } from 'vitest';
import type { ActorId } from '../../src/runtime/activation/index.js';
import { MemoryActorStore } from '../../src/runtime/activation/index.js';
import { ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { FakeClock } from '../../src/testing/index.js';
import { checkLeftovers } from './leftovers.js';
import { StoreChecks } from './store-checks.js';

const HOUR_MS = 3_600_000;

/** A ReplicaSet with an unanswered write of its size. */
async function writtenWithoutAnAnswer() {
  const clock = new FakeClock();
  const actors = new MemoryActorStore(clock);
  const stored = new StoreChecks(() => undefined);
  const ref = { namespace: 'default', name: 'web-1' };
  const write = { type: ReplicaSet, ref, verb: 'update', mayBeUnderWay: true, notedAtMs: 0 } as const;
  for (const [controller, key] of [
    ['replicaset', 'default/web-1'],
    ['garbage-collector', 'replicasets.apps|default/web-1'],
  ] as const)
    await actors.recordCauses({ controller, key }, {}, [write]);
  const see = (deleted: boolean): void => {
    const metadata = { ...ref, uid: 'u-1', resourceVersion: '1' };
    const object = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec: { replicas: 0 } };
    stored.see({ resource: 'replicasets.apps', deleted, object, revision: 1 }, 0);
  };
  const store = {
    unanswered: () => actors.unanswered().map(([id, writes]) => [id, writes.length] as const),
    hasIntents: (id: ActorId) => actors.intentsOf(id) !== undefined,
  };
  return { actors, clock, leftovers: () => checkLeftovers([], store, stored), see };
}

describe('stopped replicas leave behind', () => {
  it('no write without an answer to an object that exists', async () => {
    const { leftovers, see } = await writtenWithoutAnAnswer();
    see(false);
    expect(leftovers().map(({ subject }) => subject)).toEqual([
      'replicaset default/web-1',
      'garbage-collector replicasets.apps|default/web-1',
    ]);
  });

  it('at most a write to an object that is gone, whose state expires within an hour', async () => {
    const { actors, clock, leftovers, see } = await writtenWithoutAnAnswer();
    see(false);
    see(true);
    expect(leftovers()).toEqual([]);
    expect(actors.unanswered()).toHaveLength(2);
    await clock.advance(HOUR_MS);
    expect(actors.unanswered()).toEqual([]);
  });
});
