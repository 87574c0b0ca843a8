import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApiClient } from '../../src/client/api-client/index.js';
import { ApiConnectionError, apiStatusOf, isConflict, isExpired } from '../../src/client/api-client/index.js';
import type {
  ControllerDefinition,
  ControllerManager,
  CreateManagerOptions,
  Lease,
} from '../../src/runtime/index.js';
import {
  ConfigMap,
  Secret,
  createManager,
  defineController,
  setControllerReference,
  silentLogger,
} from '../../src/runtime/index.js';
import { memoryCoordination } from '../../src/runtime/operator/coordination/memory-coordination.js';
import type { ManifestObject, TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { Faults } from '../../src/testing/faults/index.js';
import { startFaults } from '../../src/testing/faults/index.js';
import { waitFor as waitForUpTo } from '../../src/testing/wait-for.js';

const waitFor = <T>(what: string, condition: () => T | undefined | false | Promise<T | undefined | false>) =>
  waitForUpTo(condition, { what, timeoutMs: 60_000, intervalMs: 10 });

let cluster: TestCluster;
let faults: Faults;
let client: ApiClient;
beforeAll(async () => {
  cluster = await startTestCluster({
    ...{ controllers: [], nodes: 0, users: ['jane'] },
    manifests: <ManifestObject[]>[
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
      {
        ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
        metadata: { name: 'jane', namespace: 'shop' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
      },
    ],
  });
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  faults = await startFaults(cluster, { seed: 1 });
  ({ client } = faults);
});
afterEach(() => faults.stop());

let serial = 0;
const aMap = (name = `map-${++serial}`): ConfigMap => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } },
  data: { a: '1' },
});
const exists = (name: string) => cluster.get(`configmap/${name}`).then(Boolean);

describe('answers', () => {
  it('are the server’s own as long as nothing is asked for', async () => {
    const map = await client.create(ConfigMap, aMap());
    expect(await client.get(ConfigMap, map.metadata)).toEqual(map);
    await client.ping();
    expect((await client.discover()).resources.length).toBeGreaterThan(20);
    await expect(client.get(ConfigMap, { name: 'none', namespace: 'default' })).rejects.toThrow('not found');
    expect(faults.log).toEqual([]);
  });

  it('say that a write has failed that was not done, or that was', async () => {
    faults.failNext({ verb: 'create', resource: 'configmaps', code: 500 });
    await expect(client.create(ConfigMap, aMap('before'))).rejects.toThrow('made by the faults of the test');
    faults.failNext({ verb: 'create', resource: 'configmaps', code: 500, when: 'after' });
    await expect(client.create(ConfigMap, aMap('after'))).rejects.toThrow('made by the faults of the test');
    expect([await exists('before'), await exists('after')]).toEqual([false, true]);
    expect(faults.log.map(({ byChance, fault, what }) => ({ byChance, fault, what }))).toEqual([
      { byChance: false, fault: 'status 500 before', what: 'create configmaps in default' },
      { byChance: false, fault: 'status 500 after', what: 'create configmaps in default' },
    ]);
  });

  it('are lost with their connection, before the write or after it', async () => {
    const cut = { verb: 'create', resource: 'configmaps', connection: 'cut' } as const;
    faults.failNext(cut);
    await expect(client.create(ConfigMap, aMap('cut-before'))).rejects.toThrow(ApiConnectionError);
    faults.failNext({ ...cut, when: 'after' });
    await expect(client.create(ConfigMap, aMap('cut-after'))).rejects.toThrow(ApiConnectionError);
    expect([await exists('cut-before'), await exists('cut-after')]).toEqual([false, true]);
  });

  it('do not come, until the faults are healed', async () => {
    const asked = faults.failNext({
      verb: 'create',
      resource: 'configmaps',
      connection: 'silent',
      when: 'after',
    });
    const created = client.create(ConfigMap, aMap('silent'));
    created.catch(() => undefined);
    await asked.done;
    expect(await exists('silent')).toBe(true);
    await faults.heal();
    await expect(created).rejects.toThrow(ApiConnectionError);
  });

  it('are conflicts, and refusals with the time to come back, which a client keeps', async () => {
    const map = await client.create(ConfigMap, aMap());
    faults.failNext({ verb: 'update', code: 409 });
    const conflict = await client.update(ConfigMap, map).catch((error: unknown) => error);
    expect(isConflict(conflict)).toBe(true);
    const refused = faults.failNext({ verb: 'get', code: 429, retryAfterSeconds: 0 });
    expect(await client.get(ConfigMap, map.metadata)).toEqual(map);
    expect(refused.hits).toBe(1);
  });

  it('go through if they refuse, and the fault waits for a write that is done', async () => {
    await cluster.apply(aMap('there') as never);
    const asked = faults.failNext({ verb: 'create', code: 500, when: 'after' });
    const refused = await client.create(ConfigMap, aMap('there')).catch(apiStatusOf);
    expect(refused).toMatchObject({ reason: 'AlreadyExists' });
    expect(asked.hits).toBe(0);
    await expect(client.create(ConfigMap, aMap())).rejects.toThrow('made by the faults');
    expect(asked.hits).toBe(1);
  });

  it('by chance are the same for the same seed', async () => {
    const run = async (seed: number): Promise<string[]> => {
      await using some = await startFaults(cluster, { seed, rates: { errorBefore: 0.3 } });
      const outcome = (name: string) =>
        some.client.get(ConfigMap, { name, namespace: 'default' }).then(
          () => 'done',
          (error: unknown) => String(apiStatusOf(error)?.code),
        );
      const outcomes: string[] = [];
      for (let count = 0; count < 30; count++) outcomes.push(await outcome('none'));
      return outcomes;
    };
    const first = await run(7);
    expect(await run(7)).toEqual(first);
    expect(new Set(first)).toEqual(new Set(['404', '500']));
    expect(await run(8)).not.toEqual(first);
  });

  it('are those that the user of one namespace gets, whose faults they are', async () => {
    await using hers = await startFaults(await cluster.user('jane'));
    await hers.client.create(ConfigMap, { ...aMap('hers'), metadata: { name: 'hers', namespace: 'shop' } });
    await expect(hers.client.create(ConfigMap, aMap())).rejects.toThrow('is forbidden');
  });
});

describe('watches', () => {
  let seen: string[];
  let stopper: AbortController;
  let watching: Promise<unknown>;
  beforeEach(() => {
    seen = [];
    stopper = new AbortController();
  });
  afterEach(async () => {
    stopper.abort();
    await watching.catch(() => undefined);
  });

  async function watch(): Promise<void> {
    const { resourceVersion } = await client.list(ConfigMap, { namespace: 'default' });
    const options = { resourceVersion, timeoutSeconds: 600, idleTimeoutMs: 600_000, signal: stopper.signal };
    const follow = async (): Promise<void> => {
      for await (const event of client.watch(ConfigMap, { namespace: 'default', ...options }))
        if (event.type !== 'BOOKMARK') seen.push(event.object.metadata.name);
    };
    watching = follow();
    watching.catch(() => undefined);
    await cluster.client.create(ConfigMap, aMap());
    await waitFor('the watch', () => seen.length === 1);
  }

  it('show nothing while they are held, and everything in its order afterwards', async () => {
    await watch();
    const held = faults.holdWatches({ resource: 'configmaps' });
    const names = ['x', 'y', 'z'].map((letter) => `${letter}-${++serial}`);
    for (const name of names) await cluster.client.create(ConfigMap, aMap(name));
    await cluster.client.list(ConfigMap);
    expect(seen).toHaveLength(1);
    held.release();
    await waitFor('all of them', () => seen.length === 4);
    expect(seen.slice(1)).toEqual(names);
  });

  it('break, end with 410, or fall silent', async () => {
    await watch();
    expect(faults.cutWatches({ resource: 'secrets' })).toBe(0);
    expect(faults.cutWatches()).toBe(1);
    await expect(watching).rejects.toThrow(ApiConnectionError);

    seen = [];
    await watch();
    expect(faults.expireWatches({ namespace: 'default' })).toBe(1);
    expect(isExpired(await watching.catch((error: unknown) => error))).toBe(true);

    seen = [];
    await watch();
    expect(faults.silenceWatches()).toBe(1);
    await cluster.client.create(ConfigMap, aMap());
    await client.list(ConfigMap);
    expect(seen).toHaveLength(1);
    await faults.heal();
    await expect(watching).rejects.toThrow(ApiConnectionError);
  });
});

describe('an operator', () => {
  let stop: (() => Promise<void>) | undefined;
  afterEach(async () => {
    await stop?.();
    stop = undefined;
  });

  async function start(
    controller: ControllerDefinition,
    options: Partial<CreateManagerOptions> = {},
  ): Promise<ControllerManager> {
    const manager = await createManager({
      ...{ name: 'secrets', kubeconfig: faults.kubeconfig.path, coordination: 'local', logger: silentLogger },
      ...options,
    });
    const stopper = new AbortController();
    const running = manager.add(controller).run(stopper.signal);
    running.catch(() => undefined);
    stop = async () => {
      stopper.abort();
      await running.catch(() => undefined);
    };
    return manager;
  }

  /** Gives every ConfigMap with the label a Secret, and trusts its cache. */
  const secretOfEach = (label: string, before: () => Promise<void> = async () => undefined) =>
    defineController({
      name: 'secrets',
      for: ConfigMap,
      owns: [Secret],
      async reconcile({ namespace }, { client: api, object, owned }) {
        if (!object?.metadata.labels?.[label] || owned(Secret).length > 0) return;
        await before();
        const secret: Secret = {
          ...{ apiVersion: 'v1', kind: 'Secret' },
          metadata: { name: '', generateName: 'of-map-', namespace, labels: { [label]: 'yes' } },
        };
        setControllerReference(object, secret);
        await api.create(Secret, secret);
      },
    });
  const secretsOf = (label: string) => cluster.list('secrets', { labelSelector: label });
  const labelled = (label: string): ConfigMap => {
    const map = aMap();
    return { ...map, metadata: { ...map.metadata, labels: { [label]: 'yes' } } };
  };

  it('does not decide, with the kit, by a cache that is behind its own writes', async () => {
    await start(secretOfEach('held'));
    const map = labelled('held');
    const held = faults.holdWatches({ resource: 'secrets' });
    await cluster.client.create(ConfigMap, map);
    await waitFor('the secret', async () => (await secretsOf('held')).length > 0);
    for (const data of ['2', '3'])
      await cluster.patch(`configmap/${map.metadata.name}`, { data: { a: data } });
    held.release();
    await faults.heal();
    const mark = labelled('held-mark');
    await cluster.client.create(ConfigMap, {
      ...mark,
      metadata: { ...mark.metadata, labels: { held: 'yes' } },
    });
    await waitFor('what comes after it', async () => (await secretsOf('held')).length >= 2);
    expect(await secretsOf('held')).toHaveLength(2);
  });

  it('writes nothing any more in a sync that loses the lock of its key, and does it in the next', async () => {
    const map = labelled('lock');
    const key = `default/${map.metadata.name}`;
    let tries = 0;
    const once = async (): Promise<void> => {
      tries += 1;
      if (tries === 1) expect(faults.loseLocks({ controller: 'secrets', key })).toHaveLength(1);
    };
    const coordination = faults.coordination(memoryCoordination());
    await start(secretOfEach('lock', once), { coordination, onlyProcess: true });
    await cluster.client.create(ConfigMap, map);
    await waitFor('the secret', async () => (await secretsOf('lock')).length > 0);
    expect(tries).toBe(2);
    expect(faults.log).toMatchObject([{ fault: 'lock lost', what: `secrets ${key}` }]);
  });

  it('leads no more while its lease is taken, until it is free again', async () => {
    const manager = await start(secretOfEach('lease'), { coordination: 'leases' });
    const holder = async (): Promise<string | undefined> =>
      (await cluster.get<Lease>('default/lease/secrets'))?.spec?.holderIdentity;
    await waitFor('a holder', async () => Boolean(await holder()));
    const mine = await holder();
    await waitFor('the operator to work', () => manager.state === 'running');
    const taken = await faults.takeLease({ name: 'secrets', durationSeconds: 3600 });
    expect(await holder()).toBe('faults');
    await taken.release();
    await waitFor(
      'the lease to be the operator’s',
      async () => (await holder())?.split('_')[0] === mine?.split('_')[0],
    );
    await cluster.client.create(ConfigMap, labelled('lease'));
    await waitFor('the secret', async () => (await secretsOf('lease')).length === 1);
  });

  it('names a lease that is not there', async () => {
    await expect(faults.takeLease({ name: 'nobodys' })).rejects.toThrow(
      'name: there is no lease default/nobodys',
    );
  });
});
