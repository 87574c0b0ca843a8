import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject, Pod } from '../../src/machinery/kubernetes/index.js';
import { untyped, Event } from '../../src/machinery/kubernetes/index.js';
import { defineSchedulerPlugin } from '../../src/scheduler/index.js';
import type { WaitingPods } from '../../src/scheduler/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

interface PodTraits {
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly container?: object;
}

const pod = (name: string, { container = {}, labels = {}, spec = {} }: PodTraits = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels },
  spec: { containers: [{ name: 'main', image: 'nginx', ...container }], ...spec },
});

const asks = (requests: object) => ({ resources: { requests } });

let cluster: TestCluster;
let waitingPods: WaitingPods | undefined;
const waitsForPermit = defineSchedulerPlugin({
  name: 'Permits',
  setup: (_args, handle) => {
    waitingPods = handle.waitingPods ?? waitingPods;
    return {
      permit: ({ pod: { pod: wanted } }) =>
        wanted.metadata.labels?.['permit'] ? { status: { code: 'Wait', reasons: [] } } : undefined,
    };
  },
});

beforeAll(async () => {
  cluster = await startTestCluster({
    controllers: '*',
    nodes: { nodes: 3, cpus: 4, podsPerNode: 20 },
    scheduler: { plugins: [waitsForPermit] },
  });
  await cluster.apply({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 1000,
  });
});
afterAll(() => cluster.stop());
afterEach(async () => {
  for (const { metadata } of await cluster.list('pods')) await cluster.delete(`pod/${metadata.name}`);
  await cluster.settled();
});

const podOf = async (name: string) => (await cluster.get(`pod/${name}`)) as unknown as Pod;
const nodeOf = async (name: string) => (await podOf(name)).spec.nodeName;
const conditionOf = async (name: string) =>
  (await podOf(name)).status?.conditions?.find(({ type }) => type === 'PodScheduled');
const eventsOf = async (name: string) => {
  const { items } = await cluster.client.list<
    KubernetesObject & { reason: string; message: string; action?: string; involvedObject: { name: string } }
  >(untyped(Event), { namespace: 'default' });
  return items.filter(({ involvedObject }) => involvedObject.name === name);
};

describe('a scheduler', () => {
  it('keeps pods with anti-affinity apart, and the rest waiting with the genuine message', async () => {
    const affinity = {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: 'five' } }, topologyKey: 'kubernetes.io/hostname' },
        ],
      },
    };
    for (let index = 0; index < 5; index++)
      await cluster.apply(pod(`five-${index}`, { labels: { app: 'five' }, spec: { affinity } }));
    await cluster.settled();
    const pods = (await cluster.list('pods')) as unknown as Pod[];
    const placed = pods.flatMap(({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
    expect(placed.toSorted()).toEqual(['node-0', 'node-1', 'node-2']);
    const left = pods.find(({ spec }) => !spec.nodeName);
    expect(await conditionOf(left?.metadata.name ?? '')).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message:
        "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
    });
  });

  it('says in events what it did, in the genuine words', async () => {
    await cluster.apply(pod('well'));
    await cluster.apply(pod('large', { container: asks({ cpu: '5' }) }));
    await waitFor(async () => (await eventsOf('large')).length > 0, { what: 'an event' });
    const node = await nodeOf('well');
    expect(await eventsOf('well')).toMatchObject([
      {
        reason: 'Scheduled',
        action: 'Binding',
        message: `Successfully assigned default/well to ${node}`,
        source: { component: 'default-scheduler' },
      },
    ]);
    expect(await eventsOf('large')).toMatchObject([
      {
        reason: 'FailedScheduling',
        action: 'Scheduling',
        message:
          '0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
      },
    ]);
  });

  it('preempts pods of lower priority: one, with the reason, and the pod takes its place', async () => {
    for (let index = 0; index < 3; index++)
      await cluster.apply(pod(`low-${index}`, { container: asks({ cpu: '3' }) }));
    await cluster.settled();
    await cluster.apply(pod('vip', { container: asks({ cpu: '2' }), spec: { priorityClassName: 'high' } }));
    await cluster.waitFor('pod/vip', 'condition=PodScheduled');
    await cluster.settled();
    const left = (await cluster.list('pods')).map(({ metadata }) => metadata.name).toSorted();
    expect(left).toHaveLength(3);
    expect((await podOf('vip')).status?.nominatedNodeName).toBeUndefined();
    const victim = [0, 1, 2].map((index) => `low-${index}`).find((name) => !left.includes(name)) ?? '';
    const told = await waitFor(
      async () => (await eventsOf(victim)).find(({ reason }) => reason === 'Preempted'),
      { what: 'the event of the victim' },
    );
    const { metadata, spec } = await podOf('vip');
    expect(told.message).toBe(`Preempted by pod ${metadata.uid} on node ${spec.nodeName}`);
  });

  it('takes nothing from a pod that may not preempt', async () => {
    for (let index = 0; index < 3; index++)
      await cluster.apply(pod(`low-${index}`, { container: asks({ cpu: '3' }) }));
    await cluster.settled();
    const spec = { priorityClassName: 'high', preemptionPolicy: 'Never' };
    await cluster.apply({
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'polite' },
      value: 1000,
      preemptionPolicy: 'Never',
    });
    await cluster.apply(
      pod('polite', { container: asks({ cpu: '2' }), spec: { ...spec, priorityClassName: 'polite' } }),
    );
    await cluster.settled();
    expect((await conditionOf('polite'))?.message).toBe(
      '0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
    );
    expect(await cluster.list('pods')).toHaveLength(4);
  });

  it('does not try gated pods, and does once the gates are gone', async () => {
    await cluster.apply(pod('gated', { spec: { schedulingGates: [{ name: 'example.com/wait' }] } }));
    await cluster.settled();
    expect(await nodeOf('gated')).toBeUndefined();
    expect(await eventsOf('gated')).toEqual([]);
    await cluster.patch('pod/gated', { spec: { schedulingGates: [] } });
    await cluster.waitFor('pod/gated', 'condition=PodScheduled');
  });

  it('tries a pod again when room comes free', async () => {
    for (let index = 0; index < 3; index++)
      await cluster.apply(pod(`full-${index}`, { container: asks({ cpu: '3' }) }));
    await cluster.settled();
    await cluster.apply(pod('next', { container: asks({ cpu: '2' }) }));
    await cluster.settled();
    expect(await nodeOf('next')).toBeUndefined();
    await cluster.delete('pod/full-1');
    await cluster.waitFor('pod/next', 'condition=PodScheduled');
  });

  it('leaves pods of other schedulers alone', async () => {
    await cluster.apply(pod('foreign', { spec: { schedulerName: 'other' } }));
    await cluster.settled();
    expect(await conditionOf('foreign')).toBeUndefined();
  });

  it('lets a plug-in delay a binding, and bind or refuse it later', async () => {
    for (const name of ['allowed', 'refused']) await cluster.apply(pod(name, { labels: { permit: 'yes' } }));
    const waiting = (name: string) => waitingPods?.list().find((each) => each.pod.metadata.name === name);
    await waitFor(() => waiting('allowed') && waiting('refused'), { what: 'both to wait' });
    expect(await nodeOf('allowed')).toBeUndefined();
    waiting('allowed')?.allow('Permits');
    await cluster.waitFor('pod/allowed', 'condition=PodScheduled');
    waiting('refused')?.reject('Permits', 'not today');
    await waitFor(async () => (await conditionOf('refused'))?.message, { what: 'the condition' });
    expect((await conditionOf('refused'))?.message).toContain('not today');
  });

  it('has volumes bound before the pod, on the node that it goes to', async () => {
    await cluster.apply({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'local' },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    const terms = [
      { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-1'] }] },
    ];
    await cluster.apply({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk' },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        local: { path: '/mnt' },
        nodeAffinity: { required: { nodeSelectorTerms: terms } },
      },
    });
    await cluster.apply({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'default' },
      spec: {
        storageClassName: 'local',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    });
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    await cluster.apply(pod('stateful', { spec: { volumes } }));
    await cluster.waitFor('pod/stateful', 'condition=PodScheduled');
    expect(await nodeOf('stateful')).toBe('node-1');
  });
});
