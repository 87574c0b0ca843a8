import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '@rollkeeper/client/api-client';
import { FakeClock, toRfc3339 } from '@rollkeeper/machinery/clock';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { ConfigMap, Event, Namespace, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { diagnose } from './diagnose.js';
import type { Diagnosis } from './diagnosis.js';
import { kindNamed } from './kind-diagnoses.js';

const clock = new FakeClock();
const NOW = clock.now();
const ago = (seconds: number): string => toRfc3339(NOW - seconds * 1000);

type Sketch = Record<string, unknown> & { metadata?: Record<string, unknown> };

/** A cluster from short words: `['pod', 'web-0', {…}]`; names without a namespace are in `shop` where the kind has one. */
function clusterOf(...objects: readonly (readonly [kind: string, name: string, fields?: Sketch])[]) {
  const cluster = new FakeCluster(clock);
  for (const [word, name, { metadata, ...fields } = {}] of objects) {
    const type = typeOf(word);
    cluster.seed(type, {
      apiVersion: type.group === '' ? type.version : `${type.group}/${type.version}`,
      kind: type.kind,
      metadata: { name, uid: `uid-${name}`, ...(type.namespaced && { namespace: 'shop' }), ...metadata },
      ...fields,
    });
  }
  return cluster;
}

function typeOf(word: string): ResourceType {
  if (word === 'event') return Event;
  if (word === 'configmap') return ConfigMap;
  if (word === 'storageclass')
    return {
      ...{ group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses', kind: 'StorageClass' },
      namespaced: false,
    };
  if (word === 'endpointslice')
    return {
      ...{ group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices', kind: 'EndpointSlice' },
      namespaced: true,
    };
  if (word === 'resourcequota')
    return { group: '', version: 'v1', resource: 'resourcequotas', kind: 'ResourceQuota', namespaced: true };
  const kind = kindNamed(word);
  if (!kind) throw new Error(`no kind ${word}`);
  return kind.type;
}

async function explained(cluster: FakeCluster, word: string, name: string): Promise<Diagnosis> {
  const kind = kindNamed(word);
  if (!kind) throw new Error(`no kind ${word}`);
  return diagnose(cluster, kind, { namespace: 'shop', name }, { nowMs: NOW });
}

const causesOf = ({ waitsFor }: Diagnosis): string[] =>
  waitsFor.map(({ cause, severity }) => `${severity} ${cause}`);

function ownedBy(kind: string, name: string): Sketch['metadata'] {
  return {
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true }],
  };
}

const ready = (isReady: boolean) => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: ago(60) }],
});

const waiting = (reason: string, message: string) => ({
  phase: 'Pending',
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: ago(60) }],
  containerStatuses: [
    { name: 'c', image: 'web:2', restartCount: 0, ready: false, state: { waiting: { reason, message } } },
  ],
});

const spec = { containers: [{ name: 'c', image: 'web:2' }] };

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

describe('other kinds', () => {
  const failed = { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'reached' };
  it.each<[string, string, string, Sketch, string[]]>([
    [
      'a Job that gave up',
      'job',
      'j',
      { spec: {}, status: { failed: 7, conditions: [failed] } },
      ['blocked job-failed'],
    ],
    [
      'a Job that tries again',
      'job',
      'j',
      { spec: { backoffLimit: 6 }, status: { failed: 1, active: 1 } },
      ['waits job-retrying'],
    ],
    [
      'a DaemonSet for no node',
      'ds',
      'd',
      daemonSet({ desiredNumberScheduled: 0 }),
      ['note no-node-selected'],
    ],
    [
      'a Service without pods',
      'svc',
      's',
      { spec: { selector: { app: 'x' }, ports: [] } },
      ['blocked no-endpoints'],
    ],
    [
      'a load balancer that is awaited',
      'svc',
      's',
      { spec: { type: 'LoadBalancer' } },
      ['waits load-balancer-pending'],
    ],
    [
      'a group that does not answer',
      'apiservice',
      'v1.example.com',
      {
        spec: { service: { namespace: 'shop', name: 's' } },
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }] },
      },
      ['blocked api-group-unavailable'],
    ],
    [
      'a webhook without a Service',
      'validatingwebhookconfiguration',
      'w',
      { webhooks: [{ name: 'w.x', clientConfig: { service: { namespace: 'shop', name: 'gone' } } }] },
      ['blocked webhook-unreachable'],
    ],
    [
      'a definition whose conversion is not there',
      'crd',
      'c',
      converted(['v1', 'v2']),
      ['blocked conversion-unreachable'],
    ],
    [
      'a definition with one version, which nothing converts yet',
      'crd',
      'c',
      converted(['v1']),
      ['note conversion-unreachable'],
    ],
    [
      'a definition whose names another one has',
      'crd',
      'c',
      {
        spec: { ...converted(['v1']).spec, conversion: { strategy: 'None' } },
        status: { conditions: [{ type: 'NamesAccepted', status: 'False', message: 'is in use' }] },
      },
      ['blocked definition-names'],
    ],
    [
      'a CronJob at the 31st of February',
      'cj',
      'c',
      { spec: { schedule: '0 0 31 2 *', jobTemplate: {} } },
      ['blocked schedule-never'],
    ],
    [
      'a CronJob that is too late at once',
      'cj',
      'c',
      { spec: { schedule: '* * * * *', startingDeadlineSeconds: 0, jobTemplate: {} } },
      ['blocked schedule-never'],
    ],
    [
      'a CronJob in a zone that there is not',
      'cj',
      'c',
      { spec: { schedule: '* * * * *', timeZone: 'Mars/Olympus', jobTemplate: {} } },
      ['blocked schedule-invalid'],
    ],
    [
      'a suspended CronJob at the 31st of February',
      'cj',
      'c',
      { spec: { schedule: '0 0 31 2 *', suspend: true, jobTemplate: {} } },
      [],
    ],
    ['a CronJob on leap days', 'cj', 'c', { spec: { schedule: '0 0 29 2 *', jobTemplate: {} } }, []],
    [
      'a DaemonSet that no controller has seen for a minute',
      'ds',
      'd',
      {
        metadata: { generation: 2, managedFields: [{ manager: 'kubectl', time: ago(60) }] },
        ...daemonSet({ desiredNumberScheduled: 0 }),
      },
      ['blocked not-observed-yet', 'note no-node-selected'],
    ],
    [
      'a claim that lost its volume',
      'pvc',
      'c',
      { spec: {}, status: { phase: 'Lost' } },
      ['blocked claim-lost'],
    ],
  ])('%s', async (_, word, name, fields, causes) => {
    const told = await explained(clusterOf([word, name, fields]), word, name);
    expect(causesOf(told)).toEqual(causes);
    for (const { summary, unblockedBy } of told.waitsFor) {
      expect(summary).not.toMatch(/undefined|\.$/);
      expect(unblockedBy.length).toBeGreaterThan(0);
    }
  });

  it('a claim that is in use and being deleted names the pods', async () => {
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
    const claim = {
      metadata: { deletionTimestamp: ago(5), finalizers: ['kubernetes.io/pvc-protection'] },
      spec: {},
      status: { phase: 'Bound' },
    };
    const cluster = clusterOf(['pvc', 'c', claim], ['pod', 'user', { spec: { ...spec, volumes } }]);
    const told = await explained(cluster, 'pvc', 'c');
    expect(told).toMatchObject({ state: 'deleting', cause: 'claim-in-use' });
    expect(told.waitsFor[0]?.objects).toEqual([{ kind: 'Pod', namespace: 'shop', name: 'user' }]);
  });
});

function converted(versions: readonly string[]) {
  return {
    spec: {
      names: { kind: 'Thing', plural: 'things' },
      versions: versions.map((name) => ({ name, served: true })),
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { service: { namespace: 'shop', name: 'gone' } } },
      },
    },
  };
}

function daemonSet(status: object): Sketch {
  return {
    spec: { selector: {}, template: { spec }, updateStrategy: { type: 'RollingUpdate' } },
    status: { observedGeneration: 1, ...status },
  };
}

describe('a reader of one namespace', () => {
  it('sees what it may, and is shown what is missing', async () => {
    const cluster = clusterOf(
      ['sts', 'db', { spec: { replicas: 1, selector: {}, template: {} } }],
      ['node', 'secret-node'],
    );
    cluster.intercept = ({ type, verb }) =>
      verb === 'list' && type.resource === Node.resource
        ? new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'no' })
        : undefined;
    const told = await explained(cluster, 'sts', 'db');
    expect(told.notes).toEqual(['You may not list nodes: problems that depend on them are not detected.']);
    expect(JSON.stringify(told)).not.toContain('secret-node');
    expect(cluster.requests.every(({ key, type }) => !type.namespaced || key.startsWith('shop'))).toBe(true);
  });
});
