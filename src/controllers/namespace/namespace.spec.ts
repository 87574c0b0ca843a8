import { beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { TimeoutError } from '../../machinery/errors/index.js';
import type { KubernetesObject, ObjectMeta, ResourceType } from '../../machinery/kubernetes/index.js';
import { Deployment, Event, Namespace, Pod, apiVersionOf } from '../../machinery/kubernetes/index.js';
import { FakeCluster, refusal, served } from '../../testing/fake-cluster.js';
import type { RunningController } from '../../testing/run-controller.js';
import { runController } from '../../testing/run-controller.js';
import { decideConditions } from './content-conditions.js';
import { decideDeletionWaves, decideRecheckMs } from './decide-content.js';
import { namespaceController } from './namespace-definition.js';

let clock: FakeClock;
let cluster: FakeCluster;
let controller: RunningController;
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list'];

beforeEach(() => {
  clock = new FakeClock();
  cluster = new FakeCluster(clock);
  cluster.discovered = [Namespace, Event, Deployment, Pod].map((type) => ({ ...type, verbs }));
  put(Namespace, 'doomed', { namespace: undefined }, { spec: { finalizers: ['kubernetes'] } });
  put(Namespace, 'safe', { namespace: undefined }, { spec: { finalizers: ['kubernetes'] } });
  controller = runController(namespaceController, cluster, { clock });
});

function put(type: ResourceType, name: string, metadata: Partial<ObjectMeta> = {}, more: object = {}) {
  const object = { apiVersion: apiVersionOf(type), kind: type.kind, ...more };
  return cluster.seed<KubernetesObject>(type, {
    ...object,
    metadata: { namespace: 'doomed', ...metadata, name },
  });
}

const remove = () => cluster.delete(Namespace, { name: 'doomed' });
const condition = (type: string) =>
  cluster
    .peek<Namespace>(Namespace, 'doomed')
    ?.status?.conditions?.find((candidate) => candidate.type === type);

describe('the namespace controller', () => {
  it('empties a terminating namespace, lets it go, and touches no other', async () => {
    put(Deployment, 'web');
    put(Pod, 'pod');
    put(Pod, 'other', { namespace: 'safe' });
    await remove();
    expect((await controller.drain()).errors.size).toBe(0);
    expect(cluster.all(Namespace).map(({ metadata }) => metadata.name)).toEqual(['safe']);
    expect(cluster.all(Deployment)).toEqual([]);
    expect(cluster.all(Pod).map(({ metadata }) => metadata.name)).toEqual(['other']);
  });

  it('leaves a namespace alone that nobody deletes', async () => {
    put(Pod, 'pod');
    controller.add('doomed');
    await controller.drain();
    expect(cluster.requests).toEqual([]);
  });

  it('does not delete the content of a namespace that was created again since', async () => {
    put(Pod, 'pod');
    await remove();
    controller.informers.pause();
    cluster.vanish(Namespace, 'doomed');
    put(Namespace, 'doomed', { namespace: undefined }, { spec: { finalizers: ['kubernetes'] } });
    await controller.drain();
    expect(cluster.all(Pod)).toHaveLength(1);
  });

  it('waits for running pods before it takes anything else, and says so', async () => {
    put(Deployment, 'web');
    put(Pod, 'pod', {}, { spec: { nodeName: 'node-0' } });
    await remove();
    await controller.drain();
    expect(controller.requeues.get('doomed')).toBe(16_000);
    expect(cluster.all(Deployment)).toHaveLength(1);
    expect(condition('NamespaceContentRemaining')).toMatchObject({
      status: 'True',
      reason: 'SomeResourcesRemain',
      message: 'Some resources are remaining: pods. has 1 resource instances',
    });
    await cluster.delete(Pod, { namespace: 'doomed', name: 'pod' }, { gracePeriodSeconds: 0 });
    await controller.drain();
    expect(cluster.peek(Namespace, 'doomed')).toBeUndefined();
  });

  it('reports what happened, and what it did about it', async () => {
    put(Deployment, 'web');
    put(Pod, 'pod', {}, { spec: { nodeName: 'node-0' } });
    await remove();
    await controller.drain();
    await cluster.delete(Pod, { namespace: 'doomed', name: 'pod' }, { gracePeriodSeconds: 0 });
    await controller.drain();
    expect(controller.enqueued.map(({ change }) => [change?.type, change?.object.kind])).toEqual([
      ['modified', 'Namespace'],
      ['deleted', 'Pod'],
    ]);
    expect(controller.decisions).toEqual([
      {
        branch: 'wait',
        changes: true,
        summary: 'namespace doomed: asked 1 object to go, 1 is left',
        inputs: {
          'rollkeeper.content.asked_to_go': 1,
          'rollkeeper.content.remaining': 1,
          'rollkeeper.content.remaining_types': ['pods.'],
          'rollkeeper.content.finalizers': [],
          'rollkeeper.content.failures': 0,
          'rollkeeper.recheck_ms': 16_000,
        },
      },
      expect.objectContaining({
        branch: 'finalize',
        changes: true,
        summary: 'namespace doomed: asked 1 object to go, 0 are left; let it go, it is empty',
      }),
    ]);
  });

  it('a pass that only waits decides to change nothing', async () => {
    put(Deployment, 'web', { finalizers: ['example.com/hold'] });
    await remove();
    await controller.drain();
    controller.add('doomed');
    await controller.drain();
    expect(controller.decisions.map(({ branch, changes, summary }) => [branch, changes, summary])).toEqual([
      ['wait', true, 'namespace doomed: asked 1 object to go, 1 is left'],
      ['wait', false, ''],
    ]);
    expect(controller.decisions[1]?.inputs).toMatchObject({
      'rollkeeper.content.finalizers': ['example.com/hold'],
    });
  });

  it('names the finalizers that hold content back', async () => {
    put(Deployment, 'web', { finalizers: ['example.com/hold'] });
    await remove();
    await controller.drain();
    expect(condition('NamespaceFinalizersRemaining')?.message).toBe(
      'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    );
    expect(controller.requeues.get('doomed')).toBe(8_000);
  });

  it('deletes the other types when one cannot be listed, reports it, and does not let the namespace go', async () => {
    put(Deployment, 'web');
    cluster.intercept = ({ verb, type }) =>
      verb === 'list' && type.resource === 'events' ? refusal(500, 'InternalError', 'broken') : undefined;
    await remove();
    await controller.drain();
    expect(cluster.all(Deployment)).toEqual([]);
    expect(condition('NamespaceDeletionContentFailure')).toMatchObject({
      status: 'True',
      message: 'Failed to delete all resource types, 1 remaining: v1, Resource=events: broken',
    });
    expect(controller.requeues.get('doomed')).toBeGreaterThan(0);
  });

  it('keeps the namespace while a group cannot be discovered, because it may hold content', async () => {
    cluster.failedGroups = [{ groupVersion: 'broken.example.com/v1', error: new Error('no endpoints') }];
    put(Deployment, 'web');
    await remove();
    await controller.drain();
    expect(cluster.all(Deployment)).toEqual([]);
    expect(condition('NamespaceDeletionDiscoveryFailure')?.status).toBe('True');
    cluster.failedGroups = [];
    controller.add('doomed');
    await controller.drain();
    expect(cluster.peek(Namespace, 'doomed')).toBeUndefined();
  });

  it('writes the status only when it changes', async () => {
    put(Deployment, 'web', { finalizers: ['example.com/hold'] });
    await remove();
    await controller.drain();
    await clock.advance(5_000);
    controller.add('doomed');
    await controller.drain();
    expect(cluster.count('update')).toBe(1);
  });

  it('keeps finalizers of others in the spec', async () => {
    const namespace = cluster.peek<Namespace>(Namespace, 'doomed') as Namespace;
    await cluster.update(Namespace, {
      ...namespace,
      spec: { finalizers: ['example.com/hold', 'kubernetes'] },
    });
    await remove();
    await controller.drain();
    expect(cluster.peek<Namespace>(Namespace, 'doomed')?.spec?.finalizers).toEqual(['example.com/hold']);
  });
});

describe('content of many types', () => {
  const widgets = (index: number): ResourceType => ({
    group: 'example.com',
    version: 'v1',
    resource: `widgets${index}`,
    kind: `Widget${index}`,
    namespaced: true,
  });
  const types = Array.from({ length: 200 }, (_, index) => widgets(index));

  beforeEach(() => void cluster.discovered.push(...served(...types)));

  it('costs a list of the metadata of each, and two requests more where there is something', async () => {
    for (let index = 0; index < 50; index++) put(widgets(7), `w${index}`);
    await remove();
    await controller.drain();
    expect(cluster.peek(Namespace, 'doomed')).toBeUndefined();
    expect(cluster.all(widgets(7))).toEqual([]);
    const lists = cluster.requests.filter(({ verb }) => verb === 'list');
    expect(lists).toHaveLength(200 + 3 + 1);
    expect(lists.every(({ metadataOnly }) => metadataOnly)).toBe(true);
    expect(cluster.requests.filter(({ verb }) => verb === 'deletecollection')).toMatchObject([
      { type: { resource: 'widgets7' }, key: 'doomed', deleteOptions: { propagationPolicy: 'Background' } },
    ]);
    expect(cluster.count('delete')).toBe(1);
  });

  it('is looked at a few types at a time', async () => {
    let running = 0;
    let most = 0;
    vi.spyOn(cluster, 'list').mockImplementation(async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      return { items: [], resourceVersion: '1' };
    });
    await remove();
    await controller.drain();
    expect(most).toBe(8);
  });

  it.each([
    { name: 'the server does not delete collections', code: 405, reason: 'MethodNotAllowed' },
    { name: 'the server has no such path for a collection', code: 404, reason: 'NotFound' },
  ])('is deleted one by one where $name', async ({ code, reason }) => {
    for (const name of ['a', 'b']) put(widgets(1), name);
    cluster.intercept = ({ verb }) => (verb === 'deletecollection' ? refusal(code, reason, 'no') : undefined);
    await remove();
    await controller.drain();
    expect(cluster.all(widgets(1))).toEqual([]);
    expect(cluster.count('delete', widgets(1))).toBe(2);
  });

  it('is deleted one by one where discovery knows of no other way', async () => {
    const odd = widgets(300);
    cluster.discovered.push({ ...odd, verbs: ['delete', 'list'] });
    put(odd, 'a');
    await remove();
    await controller.drain();
    expect(cluster.all(odd)).toEqual([]);
    expect(cluster.count('deletecollection', odd)).toBe(0);
  });

  it('is no failure when the server needs more than one request for a large collection', async () => {
    put(widgets(1), 'a', { finalizers: ['example.com/hold'] });
    cluster.intercept = ({ verb }) =>
      verb === 'deletecollection' ? new TimeoutError('nothing came for 32000 ms') : undefined;
    await remove();
    await controller.drain();
    expect(condition('NamespaceDeletionContentFailure')?.status).toBe('False');
    expect(condition('NamespaceContentRemaining')?.status).toBe('True');
    cluster.intercept = () => undefined;
    controller.add('doomed');
    await controller.drain();
    expect(cluster.peek(widgets(1), 'doomed/a')?.metadata.deletionTimestamp).toBeDefined();
  });

  it('is complete without a type that is served no more since discovery was asked', async () => {
    cluster.intercept = ({ type, verb }) =>
      verb === 'list' && type.resource === 'widgets5' ? refusal(404, 'NotFound', 'no such path') : undefined;
    await remove();
    await controller.drain();
    expect(cluster.peek(Namespace, 'doomed')).toBeUndefined();
  });
});

describe('decideDeletionWaves', () => {
  it('takes namespaced types that can be listed and deleted, pods before all others', () => {
    const readOnly = { ...Event, resource: 'metrics', verbs: ['list'] };
    const resources = [Namespace, Event, Pod].map((type) => ({ ...type, verbs }));
    const waves = decideDeletionWaves([readOnly, ...resources]);
    expect(waves.map((wave) => wave.map(({ resource }) => resource))).toEqual([['pods'], ['events']]);
  });
});

describe('decideRecheckMs', () => {
  it('is half of the longest grace period and a second more', () => {
    const leaving = (seconds: number): KubernetesObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'pod', deletionTimestamp: new Date(seconds * 1000).toISOString() },
    });
    expect(decideRecheckMs([leaving(110), leaving(130)], 100_000)).toBe(16_000);
    expect(decideRecheckMs([leaving(50)], 100_000)).toBe(1_000);
  });
});

describe('decideConditions', () => {
  const nothing = {
    discoveryFailures: [],
    deletionFailures: [],
    remaining: new Map(),
    finalizers: new Map(),
  };

  it('keeps the time of what stays and the conditions of others', () => {
    const first = decideConditions([{ type: 'Mine', status: 'True' }], nothing, '2026-01-01T00:00:00Z');
    const held = { ...nothing, remaining: new Map([['pods.', 2]]) };
    const second = decideConditions(first, held, '2026-01-01T00:01:00Z');
    expect(second.map(({ type, status, lastTransitionTime }) => [type, status, lastTransitionTime])).toEqual([
      ['Mine', 'True', undefined],
      ['NamespaceDeletionDiscoveryFailure', 'False', '2026-01-01T00:00:00Z'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', '2026-01-01T00:00:00Z'],
      ['NamespaceDeletionContentFailure', 'False', '2026-01-01T00:00:00Z'],
      ['NamespaceContentRemaining', 'True', '2026-01-01T00:01:00Z'],
      ['NamespaceFinalizersRemaining', 'False', '2026-01-01T00:00:00Z'],
    ]);
  });
});
