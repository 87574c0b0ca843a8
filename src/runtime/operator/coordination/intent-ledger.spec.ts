import { beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../client/api-client/index.js';
import { abortable } from '../../../machinery/cancellation/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { KubernetesObject } from '../../../machinery/kubernetes/index.js';
import { ConfigMap, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { runActorContract } from '../../../testing/actor-contract.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { MemoryActorStore, StoredActorRuntime } from '../../activation/index.js';
import { IntentLedger } from './intent-ledger.js';
import { LedgerActorStore } from './ledger-actor-store.js';

const never = new AbortController().signal;
const PLACE = { namespace: 'ns', name: 'operator' };
const WEB = { controller: 'replicaset', key: 'ns/web' };
const API = { controller: 'replicaset', key: 'ns/api' };

/** Whether it was carried out is not known. */
const UNANSWERED = {
  verb: 'update',
  type: ReplicaSet,
  ref: { namespace: 'ns', name: 'web' },
  mayBeUnderWay: true,
  notedAtMs: 1,
} as const;

let owners = 0;

runActorContract('LedgerActorStore', async (options) => {
  const clock = new FakeClock();
  const memory = new MemoryActorStore(clock, options);
  const client = new FakeCluster(clock);
  const ledger = new IntentLedger({ client, clock, logger: silentLogger, ...PLACE });
  const store = new LedgerActorStore(memory, ledger);
  await store.begin({ epoch: 1, holder: 'a' }, never);
  const newOwner = () => `owner-${++owners}`;
  return {
    runtime: () => new StoredActorRuntime({ store, newOwner, clock, options }),
    frozenRuntime: () => new StoredActorRuntime({ store, newOwner, clock: new FakeClock(), options }),
    setStateVersion: async (controller, key, version) => memory.setStateVersion({ controller, key }, version),
    pass: (ms) => clock.advance(ms),
    close: async () => undefined,
  };
});

describe('a term that begins in a second round', () => {
  /** The first read of all ConfigMaps but one is answered late, and that of the other one fails. */
  function answersLate(cluster: FakeCluster) {
    const asked = new Set<string>();
    let letIn = (): void => undefined;
    const late = new Promise<void>((resolve) => (letIn = resolve));
    const get: FakeCluster['get'] = async (type, ref, options) => {
      const isFirst = !asked.has(ref.name);
      asked.add(ref.name);
      if (isFirst && ref.name === 'operator-intents-0')
        throw new ApiStatusError({ code: 500, reason: 'InternalError', message: 'no' });
      const answer = cluster.get(type, ref, options);
      answer.catch(() => undefined);
      if (isFirst) await abortable(late, options?.signal);
      return answer as never;
    };
    return {
      client: Object.assign(Object.create(cluster) as FakeCluster, { get }),
      letIn: () => letIn(),
    };
  }

  it('loses nothing to the round before, of which some answers come later', async () => {
    const clock = new FakeClock();
    const cluster = new FakeCluster(clock);
    const { client, letIn } = answersLate(cluster);
    const ledger = new IntentLedger({ client, clock, logger: silentLogger, ...PLACE });
    const term = { epoch: 1, holder: 'a' };
    await expect(ledger.begin(term, never)).rejects.toThrow('no');
    await ledger.begin(term, never);
    const actors = Array.from({ length: 16 }, (_, index) => ({ controller: 'c', key: `ns/${index}` }));
    for (const actor of actors) await ledger.put(actor, ['kept']);
    letIn();
    await new Promise((resolve) => setImmediate(resolve));
    // Takes what each shard knows along.
    for (const actor of actors) await ledger.put({ ...actor, controller: 'd' }, ['later']);
    const next = new IntentLedger({ client: cluster, clock, logger: silentLogger, ...PLACE });
    const { intents } = await next.begin({ epoch: 2, holder: 'b' }, never);
    expect(intents.filter(([{ controller }]) => controller === 'c')).toHaveLength(actors.length);
    ledger.end();
  });
});

describe('intents that are kept in the API', () => {
  let clock: FakeClock;
  let cluster: FakeCluster;

  class Replica {
    readonly store: LedgerActorStore;
    readonly runtime: StoredActorRuntime;

    constructor(readonly name: string) {
      const ledger = new IntentLedger({ client: cluster, clock, logger: silentLogger, ...PLACE });
      this.store = new LedgerActorStore(new MemoryActorStore(clock), ledger);
      const { store } = this;
      this.runtime = new StoredActorRuntime({ store, newOwner: () => `owner-${++owners}`, clock });
    }

    lead(epoch: number): Promise<void> {
      return this.store.begin({ epoch, holder: this.name }, never);
    }

    intend({ controller, key }: typeof WEB, intents: unknown): Promise<void> {
      return this.runtime.activate(controller, key, never, (activation) => activation.storeIntents(intents));
    }

    look({ controller, key }: typeof WEB) {
      return this.runtime.activate(controller, key, never, async (activation) => activation);
    }

    /** Writes pods in two namespaces, and gets no answer to an update of the ReplicaSet. */
    async work(): Promise<void> {
      await this.runtime.activate('replicaset', 'ns/web', never, async (activation) => {
        activation.recordOwnWrite('pods', '7');
        activation.noteUnanswered(UNANSWERED);
      });
      await this.runtime.activate('replicaset', 'other/web', never, async (activation) =>
        activation.recordOwnWrite('pods', '9'),
      );
    }

    settle({ controller, key }: typeof WEB): Promise<void> {
      return this.runtime.activate(controller, key, never, async (activation) => {
        activation.clearIntentsOnRelease();
      });
    }
  }

  const writes = () =>
    cluster.requests.filter(({ verb }) => verb === 'create' || verb === 'update').map(({ key }) => key);
  const stored = () => cluster.all<KubernetesObject & { data?: Record<string, string> }>(ConfigMap);

  beforeEach(() => {
    clock = new FakeClock();
    cluster = new FakeCluster(clock);
  });

  it('outlive the process that stored them', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    await a.lead(1);
    await a.intend(WEB, { creates: ['web-x'], big: 9007199254740993n });
    await b.lead(2);
    expect((await b.look(WEB)).intents).toEqual({ creates: ['web-x'], big: 9007199254740993n });
  });

  it('cannot be stored any more once the next leader has begun, so that nothing is done because of them', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    await a.lead(1);
    await a.intend(WEB, ['first']);
    await b.lead(2);
    for (const attempt of [1, 2])
      await expect(a.intend(WEB, [`late ${attempt}`])).rejects.toMatchObject({ code: 'KEY_LOCK_LOST' });
    expect((await b.look(WEB)).intents).toEqual(['first']);
    await b.intend(WEB, ['second']);
    const c = new Replica('c');
    await c.lead(3);
    expect((await c.look(WEB)).intents).toEqual(['second']);
  });

  it('cannot be stored by a replica that tried to begin a term that was over', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    await b.lead(2);
    await b.intend(WEB, ['b']);
    await expect(a.lead(1)).rejects.toMatchObject({ code: 'SUPERSEDED' });
    await expect(a.intend(WEB, ['a'])).rejects.toMatchObject({ code: 'KEY_LOCK_LOST' });
    const c = new Replica('c');
    await c.lead(3);
    expect((await c.look(WEB)).intents).toEqual(['b']);
  });

  it('refuse a term that is over', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    await b.lead(2);
    await b.intend(WEB, ['b']);
    await expect(a.lead(1)).rejects.toMatchObject({ code: 'SUPERSEDED', epoch: 2 });
    await expect(a.lead(2)).rejects.toMatchObject({ code: 'SUPERSEDED' });
    await b.lead(2);
    await b.lead(3);
  });

  it('share a write where they are stored at the same time', async () => {
    const a = new Replica('a');
    await a.lead(1);
    const many = Array.from({ length: 40 }, (_, index) => ({ controller: 'replicaset', key: `ns/${index}` }));
    await Promise.all(many.map((id) => a.intend(id, [id.key])));
    // Each of four ConfigMaps is written at first, and once for all that came meanwhile.
    expect(writes().length).toBeLessThanOrEqual(8);
    const b = new Replica('b');
    await b.lead(2);
    for (const id of many) expect((await b.look(id)).intents).toEqual([id.key]);
  });

  it('are dropped a moment after they are settled, or with the next write', async () => {
    const a = new Replica('a');
    await a.lead(1);
    await a.intend(WEB, ['x']);
    await a.settle(WEB);
    expect(JSON.stringify(stored())).toContain('replicaset ns/web');
    await clock.advance(1000);
    expect(JSON.stringify(stored())).not.toContain('replicaset ns/web');
    expect((await a.look(WEB)).intents).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });

  it('are dropped a day after the last use of their key, which no leader runs if the object was deleted meanwhile', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    await a.lead(1);
    await a.intend(WEB, ['deleted']);
    await a.intend(API, ['lives']);
    await b.lead(2);
    for (let minutes = 0; minutes < 26 * 60; minutes += 30) {
      expect((await b.look(API)).intents).toEqual(['lives']);
      await clock.advance(1_800_000);
    }
    expect(JSON.stringify(stored())).not.toContain('replicaset ns/web');
    const c = new Replica('c');
    await c.lead(3);
    expect((await c.look(API)).intents).toEqual(['lives']);
    expect((await c.look(WEB)).intents).toBeUndefined();
  });

  it('do not come back after they have expired with the next leader when their key is used again', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    await a.lead(1);
    await a.intend(WEB, ['old']);
    await clock.advance(86_400_000);
    expect((await a.look(WEB)).intents).toBeUndefined();
    await clock.advance(1000);
    await b.lead(2);
    expect((await b.look(WEB)).intents).toBeUndefined();
  });

  it('are no reason to act if they could not be stored, and what was stored before counts on', async () => {
    const a = new Replica('a');
    await a.lead(1);
    await a.intend(WEB, ['before']);
    cluster.intercept = ({ type, verb }) =>
      type === ConfigMap && verb === 'update' ? new Error('the API is gone') : undefined;
    await expect(a.intend(WEB, ['after'])).rejects.toThrow('the API is gone');
    cluster.intercept = () => undefined;
    expect((await a.look(WEB)).intents).toEqual(['before']);
    await a.intend(API, ['other']);
    const b = new Replica('b');
    await b.lead(2);
    expect((await b.look(WEB)).intents).toEqual(['before']);
  });

  it('are stored again where somebody has removed the ConfigMap', async () => {
    const a = new Replica('a');
    await a.lead(1);
    await a.intend(WEB, ['x']);
    for (const { metadata } of stored()) await cluster.delete(ConfigMap, metadata);
    await a.intend(WEB, ['y']);
    const b = new Replica('b');
    await b.lead(2);
    expect((await b.look(WEB)).intents).toEqual(['y']);
  });

  it('cost nothing where no controller has any', async () => {
    const a = new Replica('a');
    await a.lead(1);
    await a.look(WEB);
    await a.store.handOver();
    expect(writes()).toEqual([]);
  });

  it('fail a sync with a line that says so when they are too large together', async () => {
    const a = new Replica('a');
    await a.lead(1);
    await expect(a.intend(WEB, 'x'.repeat(1_000_000))).rejects.toThrow(
      /do not fit into the ConfigMap ns\/operator-intents-\d/,
    );
    await a.intend(WEB, ['small']);
  });

  it('need a right that other controllers do not need', async () => {
    cluster.intercept = ({ type }) =>
      type === ConfigMap
        ? new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'configmaps is forbidden' })
        : undefined;
    const a = new Replica('a');
    await a.lead(1);
    await a.look(API);
    await expect(a.intend(WEB, ['x'])).rejects.toThrow('configmaps is forbidden');
  });

  it('go to the next leader by a clean stop with what its caches must show, and writes without an answer', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    await a.lead(1);
    await a.work();
    await a.store.handOver();
    await b.lead(2);
    expect(await b.look(API)).toMatchObject({ mustHaveSeen: { pods: '7' }, unanswered: [] });
    expect((await b.look(WEB)).unanswered).toEqual([UNANSWERED]);
    await b.store.handOver();
    const c = new Replica('c');
    await c.lead(3);
    expect((await c.look(API)).mustHaveSeen).toEqual({ pods: '7' });
    // By then every cache shows it.
    await clock.advance(60_000);
    await c.store.handOver();
    const d = new Replica('d');
    await d.lead(4);
    expect((await d.look(API)).mustHaveSeen).toEqual({});
  });

  it('go to the next leader after a crash with what their passes wrote', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    await a.lead(1);
    await a.runtime.activate('replicaset', 'ns/web', never, async (activation) => {
      await activation.storeIntents({ creates: ['web-x'] });
      activation.recordOwnWrite('pods', '8');
      activation.clearIntentsOnRelease();
    });
    // Their objects are known as long as they are stored.
    await b.lead(2);
    expect((await b.look(WEB)).intents).toEqual({ creates: ['web-x'] });

    await a.lead(3);
    await a.settle(WEB);
    await clock.advance(1000);
    const c = new Replica('c');
    await c.lead(4);
    expect(await c.look(WEB)).toMatchObject({ intents: undefined, mustHaveSeen: { pods: '8' } });
    // It crashes as well, before it has stored anything of its own.
    const d = new Replica('d');
    await d.lead(5);
    expect((await d.look(API)).mustHaveSeen).toEqual({ pods: '8' });
  });

  it('are stored without the written versions where there is no room for both', async () => {
    const [a, b] = [new Replica('a'), new Replica('b')];
    await a.lead(1);
    await a.runtime.activate('replicaset', 'ns/web', never, async (activation) =>
      activation.recordOwnWrite('pods', '7'),
    );
    const large = 'x'.repeat(899_960);
    await a.intend(WEB, large);
    await b.lead(2);
    expect(await b.look(WEB)).toMatchObject({ intents: large, mustHaveSeen: {} });
  });

  it('go with what its caches must show, and with writes without an answer, to the same process when it leads again', async () => {
    const a = new Replica('a');
    await a.lead(1);
    await a.work();
    // It has lost its lease with the API, and could leave no word.
    await a.lead(2);
    expect(await a.look(API)).toMatchObject({ mustHaveSeen: { pods: '7' }, unanswered: [] });
    expect((await a.look(WEB)).unanswered).toMatchObject([UNANSWERED]);
    await a.lead(3);
    expect(await a.look(API)).toMatchObject({ mustHaveSeen: { pods: '7' } });
    expect((await a.look(WEB)).unanswered).toMatchObject([UNANSWERED]);
  });

  it('do not keep a clean stop from ending when the API does not answer', async () => {
    const a = new Replica('a');
    await a.lead(1);
    await a.intend(WEB, ['x']);
    cluster.update = () => new Promise(() => undefined);
    const handed = a.store.handOver();
    await clock.advance(1000);
    await handed;
  });
});
