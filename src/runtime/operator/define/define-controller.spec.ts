import { beforeEach, describe, expect, it } from 'vitest';
import type { DeepReadonly } from '../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import type { RunningController } from '../../../testing/run-controller.js';
import { runController } from '../../../testing/run-controller.js';
import type { ControllerBehaviour, ControllerTraits } from './controller-spec.js';
import { indexBy } from './controller-spec.js';
import { defineController } from './define-controller.js';
import { Deployment, Namespace, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { setControllerReference } from '../objects/owners.js';
import { generationChanged, labelsChanged } from './predicates.js';
import { watch } from './watched-events.js';

const OWNER = { namespace: 'default', name: 'web' };

describe('the changes that wake a controller', () => {
  let cluster: FakeCluster;
  beforeEach(() => (cluster = new FakeCluster()));

  const start = (
    spec: Omit<
      Partial<ControllerTraits<Deployment> & ControllerBehaviour<Deployment>>,
      'observe' | 'decide' | 'act'
    > = {},
  ): RunningController =>
    runController(
      defineController({ name: 'test', for: Deployment, reconcile: async () => {}, ...spec }),
      cluster,
    );
  const woken = ({ enqueued }: RunningController): string[] =>
    enqueued.map(({ cause, priority = 'normal', reason, ref }) =>
      [ref.namespace, ref.name, reason, priority, cause?.type.resource].join(' '),
    );
  const patch = (metadata: object) => cluster.patch(Deployment, OWNER, { type: 'merge', body: { metadata } });
  const child = (owner?: DeepReadonly<Deployment>): ReplicaSet => {
    const replicaSet = {
      ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
      metadata: { namespace: 'default', name: 'web-1' },
      spec: { selector: {} },
    } as ReplicaSet;
    if (owner) setControllerReference(owner, replicaSet);
    return replicaSet;
  };

  it('is what there is first, then what people change before what programs write', async () => {
    cluster.seed(Deployment, aDeployment());
    const running = start();
    await patch({ labels: { app: 'other' } });
    await cluster.patch(
      Deployment,
      OWNER,
      { type: 'merge', body: { status: { replicas: 1 } } },
      { subresource: 'status' },
    );
    await cluster.delete(Deployment, OWNER);
    expect(woken(running)).toEqual([
      'default web initial-list low deployments',
      'default web user-change high deployments',
      'default web child-change normal deployments',
      'default web user-change high deployments',
    ]);
  });

  it('is found by indexes of its own, which others may share', async () => {
    cluster.seed(Deployment, aDeployment());
    const byTier = indexBy(Deployment, 'app', ({ metadata }) => Object.values(metadata.labels ?? {}));
    let found: readonly unknown[] = [];
    const running = start({
      indexes: [byTier, byTier],
      reconcile: async (_request, { lister }) => {
        found = lister(Deployment).byIndex('app', 'other');
      },
    });
    await patch({ labels: { app: 'other' } });
    await running.drain();
    expect(found).toHaveLength(1);
  });

  it('is accompanied, from before the first key until it leads no more, by what it does meanwhile', () => {
    cluster.seed(Deployment, aDeployment());
    const told: string[] = [];
    const whileLeading = () => {
      told.push('begins');
      return () => void told.push('ends');
    };
    const predicates = [() => told.push('sees') > 0];
    start({ whileLeading, predicates }).stopWatching();
    expect(told).toEqual(['begins', 'sees', 'ends']);
  });

  it('must pass all predicates', async () => {
    cluster.seed(Deployment, aDeployment());
    const running = start({ predicates: [generationChanged, labelsChanged] });
    await patch({ generation: 2 });
    await patch({ labels: { tier: 'a' } });
    expect(running.enqueued).toHaveLength(1);
    await patch({ generation: 3, labels: { tier: 'b' } });
    expect(running.enqueued).toHaveLength(2);
  });

  it('is a change of what it owns, before or after the change, for the owner that it means', async () => {
    const owner = cluster.seed(Deployment, aDeployment());
    const running = start({ owns: [ReplicaSet] });
    const made = await cluster.create(ReplicaSet, child(owner));
    await cluster.update(ReplicaSet, { ...made, metadata: { ...made.metadata, ownerReferences: [] } });
    await cluster.delete(ReplicaSet, made.metadata, {});
    const stranger = { ...owner, metadata: { ...owner.metadata, uid: 'of-another-life' } };
    await cluster.create(ReplicaSet, child(stranger));
    expect(woken(running).slice(1)).toEqual([
      'default web child-change normal replicasets',
      'default web child-change normal replicasets',
    ]);
  });

  it('is what its watches map, once for each key', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } };
    cluster.seed(Namespace, namespace);
    const running = start({ watches: [watch(Namespace, () => [OWNER, OWNER], labelsChanged)] });
    expect(running.enqueued).toEqual([]);
    const body = { metadata: { labels: { team: 'blue' } } };
    await cluster.patch(Namespace, { name: 'default' }, { type: 'merge', body });
    expect(woken(running)).toEqual(['default web child-change normal namespaces']);
  });

  it('is what is there already of a watched kind, where nothing else would wake its keys', () => {
    cluster.seed(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
    const mapped = watch(Namespace, ({ metadata }) => [{ name: metadata.name }]);
    const running = start({ watches: [{ ...mapped, initially: true }] });
    expect(running.enqueued.map(({ ref }) => ref)).toEqual([{ name: 'default', namespace: undefined }]);
  });

  it('ends with the leadership', async () => {
    const running = start();
    running.stopWatching();
    await cluster.create(Deployment, aDeployment());
    expect(running.enqueued).toEqual([]);
  });

  it('may be due by what the object shows', () => {
    cluster.seed(Deployment, aDeployment());
    const isDue = ({ metadata, status }: DeepReadonly<Deployment>) =>
      status?.observedGeneration !== metadata.generation;
    expect([...(start({ isDue }).built.due?.() ?? [])]).toMatchObject([{ ref: OWNER }]);
    expect(Object.keys(start().built)).not.toContain('due');
  });
});

describe('a reconciler', () => {
  it('is given the object, what it owns, and the caches that were named', async () => {
    const cluster = new FakeCluster();
    const owner = cluster.seed(Deployment, aDeployment());
    const owned = {
      ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet' },
      metadata: { namespace: 'default', name: 'web-1' },
      spec: { selector: {} },
    } as ReplicaSet;
    cluster.seed(ReplicaSet, { ...owned, metadata: { ...owned.metadata, name: 'not-ours' } });
    setControllerReference(owner, owned);
    cluster.seed(ReplicaSet, owned);
    const seen: unknown[] = [];
    const running = runController(
      defineController({
        name: 'test',
        for: Deployment,
        owns: [ReplicaSet],
        async reconcile({ key }, { lister, object, owned }) {
          seen.push(
            key,
            object?.metadata.uid,
            owned(ReplicaSet).map(({ metadata }) => metadata.name),
          );
          lister(Namespace);
        },
      }),
      cluster,
    );
    const { errors } = await running.drain();
    expect(seen).toEqual(['default/web', owner.metadata.uid, ['web-1']]);
    expect(errors.get('default/web')).toMatchObject({ code: 'ILLEGAL_STATE' });
  });

  it.each([NaN, -1, Infinity])('must ask to come back after a time: %s is none', async (requeueAfterMs) => {
    const cluster = new FakeCluster();
    cluster.seed(Deployment, aDeployment());
    const controller = defineController({
      name: 'test',
      for: Deployment,
      reconcile: async () => ({ requeueAfterMs }),
    });
    const { errors } = await runController(controller, cluster).drain();
    expect(errors.get('default/web')).toMatchObject({ option: 'requeueAfterMs' });
  });

  it.each(['Upper', 'a b', '', 'x-', 'x'.repeat(64)])(
    'has a name that queues and metrics can bear, not "%s"',
    (name) => {
      expect(() => defineController({ name, for: Deployment, reconcile: async () => {} })).toThrow(
        'controller.name',
      );
    },
  );
});
