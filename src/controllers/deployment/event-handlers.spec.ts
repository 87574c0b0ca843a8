import { describe, expect, it } from 'vitest';
import { buildController } from '../../runtime/controller/index.js';
import { SeededRandom } from '../../machinery/clock/index.js';
import { InMemoryApi } from '../../testing/in-memory/in-memory-api.js';
import { InMemoryInformers } from '../../testing/in-memory/in-memory-informers.js';
import { StandingClock } from '../../testing/in-memory/standing-clock.js';
import type { EnqueueRequest } from '../../runtime/controller/controller-definition.js';
import { Deployment, Pod, ReplicaSet, keyOf, newControllerRef } from '../../machinery/kubernetes/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { aDeployment, setImage } from '../../testing/deployment-builder.js';
import { TRACE_ANNOTATION } from '../../machinery/trace-context/index.js';
import { createDeploymentController } from './definition.js';
import { podOf } from '../../testing/pod-builder.js';

/** A cache with one Deployment, its ReplicaSet and a pod; `happens` returns what a change enqueues. */
function watched(strategy?: Deployment['spec']['strategy']) {
  const api = new InMemoryApi();
  const informers = new InMemoryInformers(api);
  const controller = buildController(createDeploymentController({ waits: { burstMs: 30 } }), {
    informers,
    discovery: api,
    events: { record: () => undefined },
    clock: new StandingClock(0),
    random: new SeededRandom(1),
    logger: silentLogger,
  });
  const seen: Deployment['status'] = { observedGeneration: 1 };
  const deployment = api.seed<Deployment>(Deployment, { ...aDeployment({ strategy }), status: seen });
  const replicaSet = api.seed(ReplicaSet, aReplicaSet(deployment));
  const pod = api.seed(Pod, ownedPod(replicaSet));
  informers.refresh();
  const requests: EnqueueRequest[] = [];
  const stop = controller.watch((request) => requests.push(request));
  const happens = (change: () => void): EnqueueRequest[] => {
    requests.length = 0;
    change();
    informers.refresh();
    return [...requests];
  };
  return { api, informers, requests, deployment, replicaSet, pod, happens, stop, built: controller };
}

function aReplicaSet(owner?: Deployment, name = 'web-1'): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-of-${name}`,
      labels: { app: 'web' },
      ownerReferences: owner ? [newControllerRef(owner)] : [],
    },
    spec: { selector: { matchLabels: { app: 'web' } }, replicas: 1 },
  };
}

function ownedPod(owner: ReplicaSet): Pod {
  return podOf({ metadata: { name: 'web-1-a', ownerReferences: [newControllerRef(owner)] } });
}

function keys(requests: readonly EnqueueRequest[]): string[] {
  return requests.map(({ ref }) => keyOf(ref));
}

describe('changes that concern a Deployment', () => {
  it('come once for each object of the initial list, after what people change', () => {
    const { requests } = watched();
    expect(requests).toMatchObject([{ priority: 'low', reason: 'initial-list' }]);
  });

  it('come, in the initial list, for objects that no sync has seen yet before the rest', () => {
    const { api, informers, stop, built } = watched();
    stop();
    const changed = aDeployment();
    const metadata = { ...changed.metadata, name: 'changed', uid: 'changed', generation: 2 };
    api.seed(Deployment, { ...changed, metadata });
    informers.refresh();
    const requests: EnqueueRequest[] = [];
    built.watch((request) => requests.push(request))();
    const found = requests.map(({ priority, reason, ref }) => [ref.name, priority, reason]);
    expect(found.sort()).toEqual([
      ['changed', 'normal', 'initial-list'],
      ['web', 'low', 'initial-list'],
    ]);
  });

  it('a collision that a pass has counted wakes nobody: the pass comes back by itself', () => {
    const { api, deployment, happens } = watched();
    const counted = { ...structuredClone(deployment), status: { collisionCount: 1 } };
    expect(happens(() => void api.seed(Deployment, counted))).toEqual([]);
    const changed = { ...structuredClone(counted), status: { collisionCount: 2 } };
    changed.metadata.generation = 2;
    expect(happens(() => void api.seed(Deployment, changed))).toMatchObject([{ reason: 'user-change' }]);
  });

  it('a changed spec overtakes everything, with the version that caused it', () => {
    const { api, deployment, happens } = watched();
    const changed = structuredClone(deployment);
    setImage(changed, 'app:2');
    changed.metadata.generation = 2;
    const requests = happens(() => void api.seed(Deployment, changed));
    const { resourceVersion } = api.all(Deployment)[0]!.metadata;
    expect(requests).toMatchObject([
      { priority: 'high', reason: 'user-change', cause: { type: Deployment, resourceVersion } },
    ]);
    expect(requests[0]?.delayMs).toBeUndefined();
  });

  it('a changed annotation is a change by a person, our own status write is not', () => {
    const { api, deployment, happens } = watched();
    const annotated = structuredClone(deployment);
    annotated.metadata.annotations = { 'deprecated.deployment.rollback.to': '1' };
    expect(happens(() => void api.seed(Deployment, annotated))).toMatchObject([{ priority: 'high' }]);
    const ours = structuredClone(annotated);
    ours.metadata.annotations = {
      ...annotated.metadata.annotations,
      'deployment.kubernetes.io/revision': '2',
    };
    ours.status = { replicas: 3 };
    expect(happens(() => void api.seed(Deployment, ours))).toMatchObject([
      { priority: 'low', delayMs: 1000, onlyIfNeeded: true },
    ]);
  });

  it('a burst of its ReplicaSet is waited for', () => {
    const { api, replicaSet, happens } = watched();
    const requests = happens(() => void api.seed(ReplicaSet, { ...replicaSet, status: { replicas: 1 } }));
    expect(requests).toMatchObject([{ reason: 'child-change', delayMs: 30, cause: { type: ReplicaSet } }]);
  });

  it('a ReplicaSet that is new, or was given another size, has its pods to wait for first', () => {
    const { api, deployment, happens, replicaSet } = watched();
    const added = happens(() => void api.seed(ReplicaSet, aReplicaSet(deployment, 'web-2')));
    expect(added).toMatchObject([{ reason: 'child-change', delayMs: 300 }]);
    const resized = { ...structuredClone(replicaSet), spec: { ...replicaSet.spec, replicas: 3 } };
    expect(happens(() => void api.seed(ReplicaSet, resized))).toMatchObject([{ delayMs: 300 }]);
  });

  it('a ReplicaSet that is taken away wakes the Deployment it leaves', () => {
    const { api, replicaSet, happens } = watched();
    const taken = structuredClone(replicaSet);
    taken.metadata.ownerReferences = [
      newControllerRef({ ...aDeployment(), metadata: { name: 'x', uid: 'x' } }),
    ];
    expect(keys(happens(() => void api.seed(ReplicaSet, taken)))).toEqual(['default/web']);
  });

  it('an orphan wakes those that select it', () => {
    const { api, happens } = watched();
    expect(keys(happens(() => void api.seed(ReplicaSet, aReplicaSet(undefined, 'stray'))))).toEqual([
      'default/web',
    ]);
    const other = aReplicaSet(undefined, 'other');
    other.metadata.labels = { app: 'other' };
    expect(happens(() => void api.seed(ReplicaSet, other))).toEqual([]);
  });

  it('a deleted ReplicaSet is noticed, one of a Deployment of the same name before is not', async () => {
    const { api, replicaSet, happens } = watched();
    await api.delete(ReplicaSet, replicaSet.metadata);
    expect(keys(happens(() => undefined))).toEqual(['default/web']);
    const former = aDeployment();
    former.metadata.uid = 'former';
    expect(happens(() => void api.seed(ReplicaSet, aReplicaSet(former, 'former')))).toEqual([]);
  });

  it('the last pod of a ReplicaSet wakes a Recreate, and nothing else', async () => {
    const recreate = watched({ type: 'Recreate' });
    await recreate.api.delete(Pod, recreate.pod.metadata);
    expect(keys(recreate.happens(() => undefined))).toEqual(['default/web']);
    const rolling = watched();
    await rolling.api.delete(Pod, rolling.pod.metadata);
    expect(rolling.happens(() => undefined)).toEqual([]);
  });

  it('a pod of another namespace that names the ReplicaSet as its controller holds no Recreate', async () => {
    const { api, happens, pod } = watched({ type: 'Recreate' });
    const claimed = { ...pod.metadata, namespace: 'other', uid: 'uid-of-claimed' };
    happens(() => void api.seed(Pod, { ...pod, metadata: claimed }));
    await api.delete(Pod, pod.metadata);
    expect(keys(happens(() => undefined))).toEqual(['default/web']);
  });

  it('any pod that has ended wakes a rollout that replaces pods once they have ended, at once', async () => {
    const { api, happens, pod, replicaSet } = watched();
    const annotations = { 'rollkeeper.dev/pod-replacement-of-owner': 'terminated' };
    const marked = { ...replicaSet, metadata: { ...replicaSet.metadata, annotations } };
    happens(() => void api.seed(ReplicaSet, marked));
    const other = { ...pod.metadata, name: 'other', uid: 'uid-of-other' };
    happens(() => void api.seed(Pod, { ...pod, metadata: other }));
    await api.delete(Pod, pod.metadata);
    expect(keys(happens(() => undefined))).toEqual(['default/web']);
    const ended = { ...marked, status: { replicas: 0, ...marked.status, terminatingReplicas: 1 } };
    expect(happens(() => void api.seed(ReplicaSet, ended)).map(({ delayMs }) => delayMs)).toEqual([0]);
  });

  it('after the unsubscribe nothing is enqueued', () => {
    const { api, deployment, happens, stop } = watched();
    stop();
    expect(happens(() => void api.seed(Deployment, { ...deployment, status: { replicas: 1 } }))).toEqual([]);
  });

  it('waits for more of a wave, but not once the ReplicaSet is where it should be', () => {
    const { api, happens, replicaSet } = watched();
    const status = (change: Partial<NonNullable<ReplicaSet['status']>>) => () => {
      const [current = replicaSet] = api.all<ReplicaSet>(ReplicaSet);
      // As every traced write does.
      const annotations = { [TRACE_ANNOTATION]: `of the write after ${current.metadata.resourceVersion}` };
      const metadata = { ...current.metadata, annotations };
      api.seed(ReplicaSet, { ...current, metadata, status: { replicas: 0, ...current.status, ...change } });
    };
    expect(happens(status({ replicas: 1 })).map(({ delayMs }) => delayMs)).toEqual([30]);
    expect(happens(status({ availableReplicas: 1 })).map(({ delayMs }) => delayMs)).toEqual([0]);
    expect(happens(status({ terminatingReplicas: 1 })).map(({ delayMs }) => delayMs)).toEqual([1000]);
  });

  it.each([
    { strategy: undefined, growing: 0, delays: [300] },
    { strategy: undefined, growing: 2, delays: [0] },
    { strategy: { type: 'Recreate' }, growing: 0, delays: [0] },
  ] as const)(
    'fewer old pods wait for the new ones that are on their way, since only those allow the next step: %j',
    ({ delays, growing, strategy }) => {
      const { api, deployment, happens, replicaSet } = watched(strategy);
      const sized = (of: ReplicaSet, size: number, available: number): ReplicaSet => ({
        ...of,
        spec: { ...of.spec, replicas: size },
        status: { replicas: available, availableReplicas: available },
      });
      const fresh = aReplicaSet(deployment, 'web-2');
      happens(() => {
        api.seed(ReplicaSet, sized(replicaSet, 3, 5));
        api.seed(ReplicaSet, sized(fresh, 2, growing));
      });
      const shrunk = happens(() => void api.seed(ReplicaSet, sized(replicaSet, 3, 3)));
      expect(shrunk.map(({ delayMs }) => delayMs)).toEqual([...delays]);
    },
  );
});
