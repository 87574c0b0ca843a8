import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ControllerManager, DependentsOutcome, KubernetesObject } from '../../src/runtime/index.js';
import {
  ConfigMap,
  Namespace,
  PAUSED_ANNOTATION,
  Service,
  applyDependents,
  createManager,
  defineController,
  dependent,
  generationChanged,
  silentLogger,
} from '../../src/runtime/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

const REF = { namespace: 'default', name: 'app' };
const outcomes: DependentsOutcome[] = [];
let failing = 0;

/** A ConfigMap `app` has a Service of the port in it, and one ConfigMap for each further name. */
const apps = defineController({
  ...{ name: 'apps', for: ConfigMap, owns: [Service, ConfigMap], pausable: true },
  queueing: { backoffBaseMs: 1, maxRetries: 2, parkedRetryMs: 3_600_000 },
  async reconcile({ name }, context) {
    const { object } = context;
    if (name === 'failing') {
      failing++;
      throw new Error('always');
    }
    if (name !== 'app' || !object) return;
    const { names = '', port = '80', mode } = object.data ?? {};
    const desired = [
      dependent(Service, {
        metadata: { name: 'app', labels: mode ? { mode } : {} },
        spec: { ports: [{ port: Number(port), protocol: 'TCP' }], selector: { app: 'app' } },
      }),
      ...names
        .split(',')
        .filter((each) => each !== '')
        .map((each) => dependent(ConfigMap, { metadata: { name: each }, data: { by: 'app' } })),
    ];
    outcomes.push(
      await applyDependents(context, object, desired, { fieldManager: 'apps', kinds: [ConfigMap, Service] }),
    );
  },
});

let cluster: TestCluster;
let manager: ControllerManager;
let running: Promise<void>;
const stopper = new AbortController();
const change = (data: Record<string, string | null>, annotations: Record<string, string | null> = {}) =>
  cluster.client.patch(ConfigMap, REF, { type: 'merge', body: { data, metadata: { annotations } } });
const service = () => cluster.client.get(Service, REF);
/** Waits for a sync, and for those that its own writes cause. */
async function outcomeOf(work: () => Promise<unknown>): Promise<DependentsOutcome> {
  const before = outcomes.length;
  await work();
  await waitFor(() => outcomes.length > before, { what: 'a sync' });
  const first = outcomes[before]!;
  await waitFor(() => outcomes.at(-1)!.applied.length + outcomes.at(-1)!.pruned.length === 0, {
    what: 'rest',
  });
  return first;
}

beforeAll(async () => {
  cluster = await startTestCluster({ controllers: [], nodes: 0 });
  manager = await createManager({
    ...{ name: 'apps', kubeconfig: cluster.kubeconfig.path, logger: silentLogger, coordination: 'local' },
  });
  running = manager.add(apps).run(stopper.signal);
  const first = await outcomeOf(() =>
    cluster.client.create(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: REF,
      data: { names: 'one' },
    }),
  );
  expect(first).toEqual({ applied: ['services default/app', 'configmaps default/one'], pruned: [] });
});
afterAll(async () => {
  stopper.abort();
  await running;
  await cluster.stop();
});
beforeEach(async () => void (await waitFor(() => outcomes.at(-1)!.applied.length === 0, { what: 'rest' })));

it('applies what differs, and nothing else', async () => {
  const { metadata } = await cluster.client.get(ConfigMap, { ...REF, name: 'one' });
  expect(await outcomeOf(() => change({ port: '8080' }))).toEqual({
    applied: ['services default/app'],
    pruned: [],
  });
  expect((await service()).spec.ports?.[0]?.port).toBe(8080);
  const after = await cluster.client.get(ConfigMap, { ...REF, name: 'one' });
  expect(after.metadata.resourceVersion).toBe(metadata.resourceVersion);
});

it('puts right what others changed, and leaves them what is theirs', async () => {
  const body = { spec: { selector: { app: 'another' } }, metadata: { labels: { theirs: 'yes' } } };
  await outcomeOf(() => cluster.client.patch(Service, REF, { type: 'merge', body }));
  const { metadata, spec } = await service();
  expect(spec.selector).toEqual({ app: 'app' });
  expect(metadata.labels).toMatchObject({ theirs: 'yes' });
});

it('takes fields away that are desired no more, and objects', async () => {
  await outcomeOf(() => change({ mode: 'blue' }));
  expect((await service()).metadata.labels).toMatchObject({ mode: 'blue' });
  await outcomeOf(() => change({ mode: null }));
  expect((await service()).metadata.labels).not.toHaveProperty('mode');
  expect(await outcomeOf(() => change({ names: 'two' }))).toEqual({
    applied: ['configmaps default/two'],
    pruned: ['configmaps default/one'],
  });
});

it('prunes nothing that it has not applied, although the object controls it', async () => {
  const owner = await cluster.client.get(ConfigMap, REF);
  const theirs: KubernetesObject = {
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: {
      ...{ namespace: 'default', name: 'theirs' },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'app', uid: owner.metadata.uid ?? '', controller: true },
      ],
    },
  };
  await outcomeOf(() => cluster.client.create(ConfigMap, theirs));
  await outcomeOf(() => change({ names: '' }));
  expect((await cluster.client.get(ConfigMap, { ...REF, name: 'theirs' })).metadata.name).toBe('theirs');
});

it('refuses two of one name', async () => {
  const owner = await cluster.client.get(ConfigMap, REF);
  const twice = [1, 2].map(() => dependent(ConfigMap, { metadata: { name: 'x' } }));
  const context = { client: cluster.client, owned: () => [] };
  await expect(applyDependents(context, owner, twice, { fieldManager: 'apps' })).rejects.toThrow(
    'dependents: configmaps default/x is desired twice',
  );
});

it('applies nothing for an object that is deleted in the foreground, since its parts go first', async () => {
  const { metadata, ...owner } = await cluster.client.get(ConfigMap, REF);
  const deleted = { ...metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
  const parts = [dependent(ConfigMap, { metadata: { name: 'part' } })];
  const context = { client: cluster.client, owned: () => [] };
  const outcomeFor = (finalizers: string[]) =>
    applyDependents(context, { ...owner, metadata: { ...deleted, finalizers } }, parts, {
      fieldManager: 'apps',
    });
  expect(await outcomeFor(['foregroundDeletion'])).toEqual({ applied: [], pruned: [] });
  // One that its own finalizer keeps may still need parts.
  expect(await outcomeFor(['example.com/clean-up'])).toEqual({
    applied: ['configmaps default/part'],
    pruned: [],
  });
});

it('leaves a paused object alone, and comes back when the pause is over', async () => {
  await change({}, { [PAUSED_ANNOTATION]: 'true' });
  const [controller] = manager.controllers;
  const port = (await service()).spec.ports?.[0]?.port;
  await change({ port: '9090' });
  await cluster.settled();
  await waitFor(async () => (await controller!.queue.counts()).waiting === 0, { what: 'an empty queue' });
  expect((await service()).spec.ports?.[0]?.port).toBe(port);
  await outcomeOf(() => change({}, { [PAUSED_ANNOTATION]: null }));
  expect((await service()).spec.ports?.[0]?.port).toBe(9090);
});

it('comes back from failures as the controller says', async () => {
  const metadata = { namespace: 'default', name: 'failing' };
  await cluster.client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  const [controller] = manager.controllers;
  const parked = await waitFor(async () => (await controller!.queue.parked())[0], { what: 'a parked key' });
  expect(parked).toMatchObject({ key: 'default/failing', retries: 2 });
  expect(failing).toBe(3);
});

it('names what of its queue is not a controller’s to say', () => {
  const define = (queueing: object) =>
    defineController({ ...{ name: 'x', for: Namespace, queueing }, reconcile: async () => undefined });
  expect(() => define({ lockDurationMs: 1 })).toThrow('controller.queueing.lockDurationMs: is not one of');
  expect(() => define({ backoffBaseMs: 10, backoffMaxMs: 1 })).toThrow('backoffMaxMs');
});

it('wakes a pausable object at the end of its pause although its predicates say nothing of annotations', async () => {
  const seen: string[] = [];
  const quiet = defineController({
    ...{ name: 'quiet', for: Namespace, pausable: true, predicates: [generationChanged] },
    reconcile: async ({ name }) => void seen.push(name),
  });
  const other = await createManager({
    ...{ name: 'quiet', kubeconfig: cluster.kubeconfig.path, logger: silentLogger, coordination: 'local' },
  });
  const stop = new AbortController();
  const ended = other.add(quiet).run(stop.signal);
  await waitFor(() => seen.includes('default'), { what: 'the first syncs' });
  const pause = (value: string | null) =>
    cluster.client.patch(
      Namespace,
      { name: 'default' },
      { type: 'merge', body: { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } } },
    );
  await pause('true');
  seen.length = 0;
  await pause(null);
  await waitFor(() => seen.includes('default'), { what: 'a sync' });
  stop.abort();
  await ended;
});
