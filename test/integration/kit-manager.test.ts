import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type {
  ControllerDefinition,
  ControllerManager,
  CoordinationFactory,
  CreateManagerOptions,
} from '../../src/runtime/index.js';
import {
  Deployment,
  Namespace,
  Pod,
  TerminalError,
  createManager,
  createOrUpdate,
  defineController,
  generationChanged,
  serverSideApply,
  setControllerReference,
  silentLogger,
  updateStatus,
  watch,
} from '../../src/runtime/index.js';
import type { ApiClient, GetOptions, WriteOptions } from '../../src/client/api-client/index.js';
import { delegatingClient } from '../../src/client/api-client/index.js';
import { untyped, Event } from '../../src/machinery/kubernetes/index.js';
import type { KubernetesObject, ObjectRef, ResourceType } from '../../src/machinery/kubernetes/index.js';
import { redisCoordination } from '../../src/redis/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { aDeployment } from '../../src/testing/deployment-builder.js';
import { memoryCoordination } from '../../src/runtime/operator/coordination/memory-coordination.js';
import { waitFor as waitForUpTo } from '../../src/testing/wait-for.js';

const waitFor = <T>(what: string, condition: () => T | undefined | false | Promise<T | undefined | false>) =>
  waitForUpTo(condition, { what, intervalMs: 20 });

let api: TestCluster;
beforeAll(async () => void (api = await startTestCluster({ controllers: [], nodes: 0 })));
afterAll(() => api.stop());

interface Replica {
  readonly manager: ControllerManager;
  readonly running: Promise<void>;
  stop(): Promise<void>;
}

const replicas: Replica[] = [];
afterEach(async () => {
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
});

async function startReplica(
  controllers: readonly ControllerDefinition[],
  options: Partial<CreateManagerOptions>,
): Promise<Replica> {
  const manager = await createManager({
    name: 'test',
    kubeconfig: api.kubeconfig.path,
    logger: silentLogger,
    cache: { freeze: true },
    ...options,
  });
  const stopper = new AbortController();
  const running = manager.add(...controllers).run(stopper.signal);
  const stop = async () => {
    stopper.abort();
    await running;
  };
  const replica = { manager, running, stop };
  replicas.push(replica);
  return replica;
}

function newDeployment(name: string, replicas = 2): Deployment {
  const { metadata: _, ...rest } = aDeployment({ replicas });
  return { ...rest, metadata: { name, namespace: 'default' } };
}

const coordinations: { name: string; make: () => CoordinationFactory; onlyProcess: boolean }[] = [
  { name: 'memory', make: () => memoryCoordination(), onlyProcess: true },
  { name: 'Redis', make: () => redisCoordination(inject('redisUrl')), onlyProcess: false },
];

describe.each(coordinations)('two replicas of an operator on $name', ({ make, onlyProcess }) => {
  /** Gives each Deployment one pod of its own, and counts it in the status. */
  const syncs: { key: string; by: string; seen: number }[] = [];
  const running = new Set<string>();
  const onePod = (replica: string) =>
    defineController({
      name: 'one-pod',
      for: Deployment,
      predicates: [generationChanged],
      owns: [Pod],
      async reconcile({ key, name, namespace }, { client, object, owned }) {
        if (running.has(key)) throw new Error(`${key} is worked on twice at the same time`);
        running.add(key);
        try {
          if (!object) return;
          const pods = owned(Pod);
          syncs.push({ key, by: replica, seen: pods.length });
          await createOrUpdate(client, Pod, { namespace, name: `${name}-0` }, (pod) => {
            // The server completes the spec of a pod, which must not be changed afterwards.
            if (!pod.metadata.uid) pod.spec = object.spec.template.spec as Pod['spec'];
            setControllerReference(object, pod);
          });
          await updateStatus(client, Deployment, object, { ...object.status, replicas: pods.length });
        } finally {
          running.delete(key);
        }
      },
    });

  it('bring every object to its state, whichever of them is there', async () => {
    const shared = { coordination: make(), prefix: randomUUID(), onlyProcess };
    const names = Array.from({ length: 20 }, (_, index) => `web-${index}-${randomUUID().slice(0, 4)}`);
    const isDone = async (name: string) =>
      (await api.client.get<Deployment>(Deployment, { namespace: 'default', name })).status?.replicas === 1;
    const allDone = async (some: readonly string[]) => (await Promise.all(some.map(isDone))).every(Boolean);
    const create = (some: readonly string[]) =>
      Promise.all(some.map((name) => api.client.create(Deployment, newDeployment(name))));

    const a = await startReplica([onePod('a')], { ...shared, identity: 'a' });
    const b = await startReplica([onePod('b')], { ...shared, identity: 'b' });
    await create(names.slice(0, 10));
    await waitFor('the first half', () => allDone(names.slice(0, 10)));
    const [leader, follower] = a.manager.isLeader ? [a, b] : [b, a];
    expect([leader.manager.isLeader, follower.manager.isLeader]).toEqual([true, false]);
    await leader.stop();
    await create(names.slice(10));
    await waitFor('the second half', () => allDone(names));
    // A pod that goes comes again, without a line about it.
    const [name = ''] = names;
    const gone = await api.client.get<Pod>(Pod, { namespace: 'default', name: `${name}-0` });
    await api.client.delete(Pod, gone.metadata, { gracePeriodSeconds: 0 });
    await waitFor('another pod', async () => {
      const pod = await api.client
        .get<Pod>(Pod, { namespace: 'default', name: `${name}-0` })
        .catch(() => undefined);
      return pod !== undefined && pod.metadata.uid !== gone.metadata.uid;
    });
    // No sync after that of a creation has missed the pod that it made: caches had to show it first.
    const ofOne = syncs.filter(({ key }) => key === `default/${names[1]}`).map(({ seen }) => seen);
    expect(ofOne.slice(0, 2)).toEqual([0, 1]);
  });
});

describe('two replicas of an operator on leases', () => {
  const REFS = 'leased-operator';
  /** Writes who has seen it into each Deployment. */
  const mark = (replica: string) =>
    defineController({
      name: 'mark',
      for: Deployment,
      predicates: [generationChanged],
      async reconcile(_request, { client, object }) {
        if (!object?.metadata.name.startsWith(REFS)) return;
        const body = { metadata: { annotations: { 'example.com/by': replica } } };
        await client.patch(Deployment, object.metadata, { type: 'merge', body });
      },
    });
  const byOf = async (name: string) =>
    (await api.client.get<Deployment>(Deployment, { namespace: 'default', name })).metadata.annotations?.[
      'example.com/by'
    ];
  const newName = () => `${REFS}-${randomUUID().slice(0, 6)}`;

  it('take turns: the follower has warm caches, and goes on as soon as the leader has stopped', async () => {
    const options = { coordination: 'leases', name: `turns-${randomUUID().slice(0, 6)}` } as const;
    const a = await startReplica([mark('a')], { ...options, identity: 'a' });
    await waitFor('a to lead', () => a.manager.isLeader);
    const b = await startReplica([mark('b')], { ...options, identity: 'b' });
    await waitFor('b to be ready', () => b.manager.state === 'running');
    const first = newName();
    await api.client.create(Deployment, newDeployment(first));
    await waitFor('a to see it', async () => (await byOf(first)) === 'a');
    expect(b.manager.controllers[0]?.controller.isConsuming).toBe(false);
    await a.stop();
    await waitFor('b to lead', () => b.manager.isLeader);
    const second = newName();
    await api.client.create(Deployment, newDeployment(second));
    await waitFor('b to see it', async () => (await byOf(second)) === 'b');
  });

  it('write nothing any more by the time another may lead, even if a sync goes on', async () => {
    const options = { coordination: 'leases', name: `fenced-${randomUUID().slice(0, 6)}` } as const;
    const cut = { isCut: false };
    const gate = Promise.withResolvers<void>();
    const outcomes: unknown[] = [];
    const stubborn = defineController({
      name: 'stubborn',
      for: Deployment,
      predicates: [generationChanged],
      async reconcile(_request, { client, object }) {
        if (!object?.metadata.name.startsWith(REFS)) return;
        // Does not listen to its signal.
        await gate.promise;
        const body = { metadata: { annotations: { 'example.com/by': 'the former leader' } } };
        outcomes.push(
          await client
            .patch(Deployment, object.metadata, { type: 'merge', body })
            .catch((error: unknown) => error),
        );
      },
    });
    const name = newName();
    await api.client.create(Deployment, newDeployment(name));
    const a = await startReplica([stubborn], {
      ...options,
      identity: 'a',
      client: withoutLeases(api.client, cut),
    });
    await waitFor('a to lead', () => a.manager.isLeader);
    const b = await startReplica([mark('b')], { ...options, identity: 'b' });
    cut.isCut = true;
    await waitFor('b to lead', () => b.manager.isLeader);
    gate.resolve();
    await waitFor('the write of the former leader', () => outcomes.length > 0);
    expect(outcomes[0]).toMatchObject({ code: 'LEASE_LOST' });
    await waitFor('b to write', async () => (await byOf(name)) === 'b');
    expect(await byOf(name)).toBe('b');
    cut.isCut = false;
  });
});

/** The API for a replica that cannot reach its Lease while it is cut. */
function withoutLeases(client: ApiClient, cut: { readonly isCut: boolean }): ApiClient {
  const reach = ({ resource }: ResourceType): void => {
    if (cut.isCut && resource === 'leases') throw new Error('no route to the API');
  };
  return {
    ...delegatingClient(client),
    async get<T extends KubernetesObject>(type: ResourceType, ref: ObjectRef, options?: GetOptions) {
      reach(type);
      return client.get<T>(type, ref, options);
    },
    async update<T extends KubernetesObject>(type: ResourceType, object: T, options?: WriteOptions) {
      reach(type);
      return client.update<T>(type, object, options);
    },
  };
}

describe('a controller of the kit', () => {
  const memory = () => ({ coordination: memoryCoordination(), onlyProcess: true });

  it('is woken by what its watches map', async () => {
    const name = `mapped-${randomUUID().slice(0, 4)}`;
    const seen: (string | undefined)[] = [];
    const controller = defineController({
      name: 'mapped',
      for: Deployment,
      predicates: [generationChanged],
      watches: [
        watch(Namespace, ({ metadata }, listerOf) =>
          listerOf(Deployment)
            .list()
            .filter((each) => each.metadata.namespace === metadata.name)
            .map((each) => each.metadata),
        ),
      ],
      async reconcile(request, { lister }) {
        if (request.name === name)
          seen.push(lister(Namespace).get(request.namespace ?? '')?.metadata.labels?.['team']);
      },
    });
    await startReplica([controller], memory());
    await api.client.create(Deployment, newDeployment(name));
    await waitFor('a sync', () => seen.length > 0);
    const body = { metadata: { labels: { team: 'blue' } } };
    await api.client.patch(Namespace, { name: 'default' }, { type: 'merge', body });
    await waitFor('a sync that sees the label', () => seen.at(-1) === 'blue');
  });

  it('may read no cache that it has not named', async () => {
    const errors: unknown[] = [];
    const controller = defineController({
      name: 'reader',
      for: Deployment,
      async reconcile(_request, { lister }) {
        try {
          lister(Pod);
        } catch (error) {
          errors.push(error);
        }
      },
    });
    await api.client.create(Deployment, newDeployment(`read-${randomUUID().slice(0, 4)}`));
    await startReplica([controller], memory());
    await waitFor('a sync', () => errors.length > 0);
    expect(errors[0]).toMatchObject({ code: 'ILLEGAL_STATE' });
  });

  it('parks what it says can never work, and comes back when it asks to', async () => {
    const [bad, again] = ['bad', 'again'].map((word) => `${word}-${randomUUID().slice(0, 4)}`);
    let looks = 0;
    const controller = defineController({
      name: 'moody',
      for: Deployment,
      async reconcile({ name }) {
        if (name === bad) throw new TerminalError('this can never work');
        if (name === again && ++looks < 3) return { requeueAfterMs: 1 };
      },
    });
    const { manager } = await startReplica([controller], memory());
    for (const name of [bad, again]) await api.client.create(Deployment, newDeployment(name ?? ''));
    await waitFor('three looks', () => looks === 3);
    const queue = manager.controllers[0]?.queue;
    const parked = await waitFor('the parked key', async () => (await queue?.parked())?.[0]);
    expect(parked).toMatchObject({ key: `default/${bad}`, error: 'this can never work' });
  });

  it('takes fields away that it applied and no longer names', async () => {
    const name = `applied-${randomUUID().slice(0, 4)}`;
    const ref = { namespace: 'default', name };
    await api.client.create(Deployment, newDeployment(name));
    const apply = (labels: Record<string, string>) =>
      serverSideApply(
        api.client,
        Deployment,
        { metadata: { ...ref, labels } },
        { fieldManager: 'test-operator' },
      );
    await apply({ a: '1', b: '2' });
    const { metadata } = await apply({ a: '1' });
    expect(metadata.labels).toEqual({ a: '1' });
  });
});

describe('a manager', () => {
  const anything = defineController({ name: 'anything', for: Deployment, reconcile: async () => {} });

  it('serves probes and metrics while it runs', async () => {
    const { manager, running, ...replica } = await startReplica([anything], {
      coordination: memoryCoordination(),
      onlyProcess: true,
      probes: { port: 0 },
    });
    const url = await waitFor('the probes', () => manager.probesUrl);
    const get = async (path: string) => {
      const response = await fetch(url + path);
      return { status: response.status, text: await response.text() };
    };
    await waitFor('readiness', async () => (await get('/readyz')).status === 200);
    expect(await get('/livez')).toEqual({ status: 200, text: 'ok\n' });
    expect((await get('/readyz?verbose')).text).toContain('[+]controller-anything ok\n');
    manager.health.add('readyz', { name: 'mine', check: () => Promise.reject(new Error('not yet')) });
    manager.health.add('readyz', { name: 'talks', check: () => 'and this is why' });
    expect((await get('/readyz?verbose')).text).toContain('[+]talks ok: and this is why\n');
    expect(await get('/readyz')).toEqual({ status: 503, text: '[-]mine failed\nreadyz check failed\n' });
    expect((await get('/readyz?verbose')).text).toContain('[-]mine failed: not yet\n');
    expect((await get('/readyz?exclude=mine')).status).toBe(200);
    expect((await get('/metrics')).text).toContain(
      'controller_runtime_reconcile_total{controller="anything"',
    );
    expect((await get('/nowhere')).status).toBe(404);
    await replica.stop();
    await running;
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  });

  const manage = (options: Partial<CreateManagerOptions>) =>
    createManager({ name: 'test', kubeconfig: api.kubeconfig.path, logger: silentLogger, ...options });

  it.each<{ option: string; options: Partial<CreateManagerOptions> }>([
    { option: 'name', options: { name: 'Not A Word' } },
    { option: 'redisUrl', options: { redisUrl: 'http://localhost' } },
    { option: 'prefix', options: { prefix: 'a b' } },
    {
      option: 'leaderElection.leaseDurationMs',
      options: { leaderElection: { leaseDurationMs: 1 } },
    },
  ])('names the option that is wrong: $option', async ({ option, options }) => {
    await expect(manage(options)).rejects.toMatchObject({ code: 'INVALID_OPTION', option });
  });

  it('takes each name once, something to do, and no controller once it runs', async () => {
    const manager = await manage({ coordination: memoryCoordination(), onlyProcess: true });
    const signal = AbortSignal.abort();
    await expect(manager.run(signal)).rejects.toThrow('nothing to do');
    manager.add(anything);
    expect(() => manager.add(anything)).toThrow('two controllers named anything');
    await manager.run(signal);
    expect(() => manager.add({ ...anything, name: 'other' })).toThrow('before the manager runs');
    await expect(manager.run(signal)).rejects.toMatchObject({ code: 'ILLEGAL_STATE' });
  });

  it('needs no Redis where leases coordinate, or where there is one process', async () => {
    const leases = await manage({ coordination: 'leases' });
    expect(leases).toMatchObject({ reconcileOn: 'leader' });
    expect(leases.add(anything).coordination.name).toBe('leases');
    const local = await manage({ coordination: 'local' });
    expect(local.add(anything).election.lock).not.toContain('kubernetes');
    await Promise.all([leases.close(), local.close()]);
    const unknown = { coordination: 'etcd' as 'leases' };
    await expect(manage(unknown)).rejects.toMatchObject({ option: 'coordination' });
  });

  it('refuses a coordination that cannot see other processes, unless there are none', async () => {
    const coordination = memoryCoordination();
    await expect(manage({ coordination })).rejects.toMatchObject({ option: 'coordination' });
    const leaderElection = { lock: 'leases' as const };
    expect(await manage({ coordination, leaderElection })).toMatchObject({ reconcileOn: 'leader' });
    await expect(manage({ coordination, leaderElection, reconcileOn: 'all' })).rejects.toMatchObject({
      option: 'reconcileOn',
    });
    expect(await manage({ coordination, onlyProcess: true })).toMatchObject({ reconcileOn: 'all' });
  });

  it('tells of its leadership by events about the Lease, wherever the lease is', async () => {
    const warnings: string[] = [];
    const replica = await startReplica([anything], {
      coordination: memoryCoordination(),
      onlyProcess: true,
      name: 'told',
      logger: {
        ...silentLogger,
        warn: (message) => void warnings.push(message),
        error: (message) => void warnings.push(message),
      },
    });
    await waitFor('a leader', () => replica.manager.isLeader);
    type SeenEvent = KubernetesObject & { involvedObject: { name?: string }; reason: string };
    const eventsSeen = async () =>
      (await api.client.list<SeenEvent>(untyped(Event))).items.filter(
        ({ involvedObject }) => involvedObject.name === 'told',
      );
    await waitFor('an event', async () => (await eventsSeen()).length > 0);
    await replica.stop();
    expect((await eventsSeen()).map(({ reason }) => reason)).toContain('LeaderElection');
    expect(warnings).toEqual([]);
  });

  it('keeps its lease in the API where that is asked for', async () => {
    const options = {
      coordination: memoryCoordination(),
      name: 'leased',
      leaderElection: { lock: 'leases' as const },
    };
    const { manager } = await startReplica([anything], options);
    await waitFor('a leader', () => manager.isLeader);
    const lease = await api.client.get(
      { group: 'coordination.k8s.io', version: 'v1', resource: 'leases', kind: 'Lease', namespaced: true },
      { namespace: 'default', name: 'leased' },
    );
    expect(lease).toMatchObject({ spec: { holderIdentity: expect.stringContaining(manager.identity) } });
  });
});
