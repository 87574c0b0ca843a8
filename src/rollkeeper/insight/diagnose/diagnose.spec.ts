import { describe, expect, it } from 'vitest';
import { ConfigMap, Namespace, Pod } from '@rollkeeper/machinery/kubernetes';
import {
  explained,
  ago,
  clusterOf,
  causesOf,
  ownedBy,
  ready,
  waiting,
  spec,
  type Sketch,
} from './diagnose.fixture.js';

describe('a node', () => {
  const conditions = (...set: object[]) => ({ status: { conditions: set } });
  const isReady = { type: 'Ready', status: 'True' };

  it('is healthy while it is Ready', async () => {
    const told = await explained(clusterOf(['node', 'n1', conditions(isReady)]), 'node', 'n1');
    expect(told).toMatchObject({ state: 'healthy', sentence: 'Healthy: Ready, 0 pods on it.' });
  });

  it('names the owners of its pods and since when its kubelet is silent', async () => {
    const silent = {
      ...{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' },
      lastTransitionTime: ago(90),
    };
    const cluster = clusterOf(
      ['node', 'n1', conditions(silent)],
      ['pod', 'db-0', { metadata: ownedBy('StatefulSet', 'db'), spec: { ...spec, nodeName: 'n1' } }],
    );
    const told = await explained(cluster, 'node', 'n1');
    expect(told).toMatchObject({ state: 'degraded', cause: 'node-not-ready' });
    expect(told.waitsFor[0]).toMatchObject({
      since: ago(90),
      objects: [{ kind: 'StatefulSet', namespace: 'shop', name: 'db' }],
    });
  });

  it.each(['MemoryPressure', 'DiskPressure', 'PIDPressure'])('says what %s means', async (type) => {
    const cluster = clusterOf(['node', 'n1', conditions(isReady, { type, status: 'True' })]);
    expect(causesOf(await explained(cluster, 'node', 'n1'))).toEqual(['blocked node-pressure']);
  });

  it('names the budget that a drain waits for, and the pod', async () => {
    const cluster = clusterOf(
      ['node', 'n1', { ...conditions(isReady), spec: { unschedulable: true } }],
      [
        'pod',
        'web-1',
        { metadata: { labels: { app: 'web' } }, spec: { ...spec, nodeName: 'n1' }, status: ready(true) },
      ],
      ['pdb', 'web', budget({ expectedPods: 1, desiredHealthy: 1, currentHealthy: 1 })],
    );
    const told = await explained(cluster, 'node', 'n1');
    expect(causesOf(told)).toEqual(['blocked pdb-blocks-drain', 'note node-cordoned']);
    expect(told.sentence).toContain('PodDisruptionBudget shop/web keeps web-1 on it');
    expect(told.unblockedBy).toContain('run one more replica than the budget needs');
  });
});

function budget(status: object): Sketch {
  return {
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    status: { disruptionsAllowed: 0, ...status },
  };
}

describe('a PodDisruptionBudget', () => {
  const podEntry = (name: string, isReady: boolean) =>
    ['pod', name, { metadata: { labels: { app: 'web' } }, spec, status: ready(isReady) }] as const;

  it('says what would change that if it can never allow an eviction', async () => {
    const sums = { expectedPods: 1, desiredHealthy: 1, currentHealthy: 1 };
    const cluster = clusterOf(podEntry('web-1', true), ['pdb', 'web', budget(sums)]);
    expect(causesOf(await explained(cluster, 'pdb', 'web'))).toEqual(['note pdb-never-allows']);
  });

  it('names the pods that it waits for to become ready', async () => {
    const sums = { expectedPods: 2, desiredHealthy: 1, currentHealthy: 1 };
    const cluster = clusterOf(podEntry('web-1', true), podEntry('web-2', false), [
      'pdb',
      'web',
      budget(sums),
    ]);
    const { waitsFor } = await explained(cluster, 'pdb', 'web');
    expect(waitsFor[0]).toMatchObject({
      cause: 'pdb-blocks',
      pods: [{ name: 'web-2', reason: 'not ready' }],
    });
  });

  it('over pods of another one is blocked: the API evicts no pod with two budgets', async () => {
    const allows = { disruptionsAllowed: 1, expectedPods: 1, desiredHealthy: 0, currentHealthy: 1 };
    const cluster = clusterOf(
      podEntry('web-1', true),
      ['pdb', 'web', budget(allows)],
      ['pdb', 'all', budget(allows)],
    );
    expect(causesOf(await explained(cluster, 'pdb', 'web'))).toEqual(['blocked pdb-overlap']);
  });
});

describe('an autoscaler', () => {
  const autoscaler = (...conditions: object[]): Sketch => ({
    spec: { scaleTargetRef: { kind: 'StatefulSet', name: 'db' }, maxReplicas: 5 },
    status: { currentReplicas: 5, desiredReplicas: 5, conditions },
  });
  const target = ['statefulset', 'db', { spec: { selector: {} } }] as const;

  it.each([
    ['blocked autoscaler-at-limit', { type: 'ScalingLimited', status: 'True', reason: 'TooManyReplicas' }],
    ['note autoscaler-at-limit', { type: 'ScalingLimited', status: 'True', reason: 'TooFewReplicas' }],
    [
      'blocked autoscaler-without-metrics',
      { type: 'ScalingActive', status: 'False', reason: 'FailedGetResourceMetric' },
    ],
    ['blocked autoscaler-disabled', { type: 'ScalingActive', status: 'False', reason: 'ScalingDisabled' }],
    ['blocked autoscaler-target', { type: 'AbleToScale', status: 'False', reason: 'FailedGetScale' }],
  ])('is explained: %s', async (cause, condition) => {
    const cluster = clusterOf(target, ['hpa', 'db', autoscaler(condition)]);
    expect(causesOf(await explained(cluster, 'hpa', 'db'))).toEqual([cause]);
  });

  it('says that its target is not there, and that another scales the same', async () => {
    const cluster = clusterOf(['hpa', 'db', autoscaler()], ['hpa', 'db2', autoscaler()]);
    const causes = causesOf(await explained(cluster, 'hpa', 'db'));
    expect(causes).toEqual(['blocked autoscaler-target', 'blocked autoscaler-overlap']);
  });
});

describe('a namespace that is being deleted', () => {
  it('names the objects that hold it, their finalizers and who should remove them', async () => {
    const cluster = clusterOf(
      ['configmap', 'held', { metadata: { finalizers: ['example.com/keep'] } }],
      ['pod', 'web-1', { spec }],
    );
    cluster.seed(Namespace, {
      ...{ apiVersion: 'v1', kind: 'Namespace' },
      metadata: { name: 'shop', deletionTimestamp: ago(30) },
    });
    cluster.discovered = [ConfigMap, Pod].map((type) => ({ ...type, verbs: ['list', 'delete'] }));
    const told = await explained(cluster, 'ns', 'shop');
    expect(causesOf(told)).toEqual(['blocked namespace-finalizers', 'waits namespace-content']);
    expect(told.waitsFor[0]).toMatchObject({
      since: ago(30),
      objects: [{ kind: 'ConfigMap', namespace: 'shop', name: 'held', detail: 'example.com/keep' }],
      unblockedBy: ['the controller that owns example.com/keep must remove it: does it run?'],
    });
  });

  it('notes a quota that is used up while it lives', async () => {
    const quota = { status: { hard: { pods: '2', cpu: '4' }, used: { pods: '2', cpu: '1500m' } } };
    const cluster = clusterOf(['ns', 'shop'], ['resourcequota', 'small', quota]);
    const told = await explained(cluster, 'ns', 'shop');
    expect(told.state).toBe('healthy');
    expect(told.waitsFor[0]?.summary).toBe('ResourceQuota small is used up: pods 2 of 2');
  });
});

describe('a StatefulSet', () => {
  const set = (fields: object = {}, status: object = {}): Sketch => ({
    spec: { replicas: 2, selector: {}, template: {}, serviceName: '', ...fields },
    status,
  });
  const podEntry = (name: string, status: object, labels: Record<string, string> = {}) =>
    ['pod', name, { metadata: { ...ownedBy('StatefulSet', 'db'), labels }, spec, status }] as const;

  it('with pods in order says which pod the next one waits for', async () => {
    const cluster = clusterOf(
      ['sts', 'db', set()],
      podEntry('db-0', waiting('ImagePullBackOff', 'Back-off pulling image "ghcr.io/db:2"')),
    );
    const told = await explained(cluster, 'sts', 'db');
    expect(causesOf(told)).toEqual(['blocked image-pull', 'waits ordered-ready']);
    expect(told.sentence).toMatch(/^Stuck: 0 of 2 pods ready; the image of pod db-0 cannot be pulled/);
  });

  it('says to delete its broken pod if a template that was put right does not replace it', async () => {
    const broken = podEntry('db-1', waiting('CrashLoopBackOff', 'back-off'), {
      'controller-revision-hash': 'db-broken',
    });
    const revisions = { currentRevision: 'db-old', updateRevision: 'db-fixed' };
    const cluster = clusterOf(['sts', 'db', set({}, revisions)], broken);
    const told = await explained(cluster, 'sts', 'db');
    expect(told.cause).toBe('ordered-update-waits');
    expect(told.unblockedBy[0]).toMatch(/^kubectl delete pod db-1 -n shop/);
  });

  it('under policies says what its rollout waits for, and what approves of it', async () => {
    const message = 'Step 2 of 2 (approve): waits for an approval';
    const condition = { type: 'Progressing', status: 'Unknown', reason: 'WaitingForApproval', message };
    const rollout = JSON.stringify({ revision: '2', observedGeneration: 1, conditions: [condition] });
    const annotations = { 'rollkeeper.dev/steps': '1; approve', 'rollkeeper.dev/rollout': rollout };
    const revisions = { currentRevision: 'db-old', updateRevision: 'db-new', observedGeneration: 1 };
    const cluster = clusterOf([
      'sts',
      'db',
      { ...set({ replicas: 0 }, revisions), metadata: { annotations } },
    ]);
    const told = await explained(cluster, 'sts', 'db');
    expect(causesOf(told)).toEqual(['waits waits-for-approval']);
    expect(told.waitsFor[0]).toMatchObject({
      summary: message,
      unblockedBy: ['rollkeeper promote statefulset/db -n shop', expect.stringContaining('abort')],
    });
  });

  it('says that no controller follows its policies where none has seen it', async () => {
    const annotations = { 'rollkeeper.dev/steps': '1; approve' };
    const cluster = clusterOf(['sts', 'db', { ...set({ replicas: 0 }), metadata: { annotations } }]);
    const told = await explained(cluster, 'sts', 'db');
    expect(causesOf(told)).toEqual(['note controller-not-running']);
  });

  it.each(['sts', 'ds'])(
    'says that no controller follows its policies while its state is that of another set (%s)',
    async (kind) => {
      const rollout = JSON.stringify({ uid: 'uid-of-another', revision: '2', observedGeneration: 1 });
      const annotations = { 'rollkeeper.dev/steps': '1; approve', 'rollkeeper.dev/rollout': rollout };
      const status = kind === 'ds' ? { desiredNumberScheduled: 1, currentNumberScheduled: 1 } : {};
      const pod = podEntry('db-0', ready(true));
      const metadata = { annotations, uid: 'uid-db' };
      const cluster = clusterOf([kind, 'db', { ...set({ replicas: 1 }, status), metadata }], pod);
      const causes = causesOf(await explained(cluster, kind, 'db'));
      expect(causes).toContain('note controller-not-running');
      expect(causes).not.toContain('note partition');
    },
  );

  it('names the claim before the pod that cannot be placed without it', async () => {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }];
    const pending = {
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'unbound' }],
    };
    const cluster = clusterOf(
      ['sts', 'db', set({ replicas: 1 })],
      [
        'pod',
        'db-0',
        { metadata: ownedBy('StatefulSet', 'db'), spec: { ...spec, volumes }, status: pending },
      ],
      ['pvc', 'data-db-0', { spec: { storageClassName: 'fast' }, status: { phase: 'Pending' } }],
      ['storageclass', 'standard', { provisioner: 'example.com/disk' }],
    );
    const told = await explained(cluster, 'sts', 'db');
    expect(causesOf(told)).toEqual(['blocked claim-pending', 'blocked unschedulable']);
    expect(told.waitsFor[0]?.summary).toBe('claim data-db-0 is not bound: there is no StorageClass fast');
  });

  it('says, by the Event of its controller, that a quota refuses it', async () => {
    const cluster = clusterOf(
      ['sts', 'db', set()],
      [
        'event',
        'db.1',
        {
          involvedObject: { kind: 'StatefulSet', name: 'db', uid: 'uid-db' },
          type: 'Warning',
          reason: 'FailedCreate',
          message:
            'create Pod db-0 in StatefulSet db failed error: pods "db-0" is forbidden: exceeded quota: q',
          lastTimestamp: ago(10),
        },
      ],
    );
    expect(causesOf(await explained(cluster, 'sts', 'db'))).toEqual(['blocked quota']);
  });

  it('is complete with its pods ready', async () => {
    const cluster = clusterOf(
      ['sts', 'db', set()],
      podEntry('db-0', ready(true)),
      podEntry('db-1', ready(true)),
    );
    expect(await explained(cluster, 'sts', 'db')).toMatchObject({ state: 'complete', waitsFor: [] });
  });
});
