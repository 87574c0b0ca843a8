import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '../../src/machinery/kubernetes/index.js';
import { isPodReady } from '../../src/machinery/kubernetes/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { Loose } from './support/managed-cluster.js';
import { evictPod } from './support/evict-pod.js';
import { web } from './support/managed-cluster.js';

/** Generous, because a machine may be busy: nothing here waits for so long. */
const PATIENT = { timeoutMs: 120_000 };
const ASKED = 'rollkeeper.dev/eviction-asked';

const annotated = (annotations: Record<string, string>, spec: object = {}) => {
  const deployment = web({ api: 'apps/v1', spec: { replicas: 1, ...spec } });
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
};

describe('the eviction of the only pod of a Deployment', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster({
      nodes: 2,
      controllers: 'deployment,replicaset,disruption,garbage-collector',
      manifests: [
        annotated({ 'rollkeeper.dev/on-eviction': 'surge' }),
        {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { name: 'web', namespace: 'default' },
          spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
        },
      ],
    });
    await cluster.settled(PATIENT);
  });
  afterAll(() => cluster.stop());

  const podsOf = () => cluster.list<Pod>('pods', { labelSelector: 'app=web' });
  const evict = (name: string, dryRun: readonly string[] = []) => evictPod(cluster, name, { dryRun });

  const onlyPod = async (): Promise<Pod> => {
    const [pod, ...others] = await podsOf();
    if (!pod || others.length > 0) throw new Error(`there are ${others.length + 1} pods`);
    return pod;
  };

  it('says that it would wait where it is only tried, and marks nothing', async () => {
    const pod = await onlyPod();
    expect(await evict(pod.metadata.name, ['All'])).toMatchObject({ code: 429 });
    expect((await onlyPod()).metadata.annotations?.[ASKED]).toBeUndefined();
  });

  const cordon = async (unschedulable: boolean): Promise<void> => {
    for (const node of ['node-0', 'node-1']) await cluster.patch(`node/${node}`, { spec: { unschedulable } });
  };

  it('is answered with 429, and the pod goes when another one is available', async () => {
    const pod = await onlyPod();
    await cordon(true);
    expect(await evict(pod.metadata.name)).toMatchObject({
      ...{ code: 429, reason: 'TooManyRequests' },
      message: 'Cannot evict pod before another one is available in its place.',
      details: {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: 'Deployment web starts another pod first (rollkeeper.dev/on-eviction: surge)',
          },
        ],
      },
    });
    await cluster.settled(PATIENT);
    expect(await podsOf(), 'no node takes the new one').toHaveLength(2);
    await cordon(false);
    await cluster.settled(PATIENT);
    const left = await onlyPod();
    expect(left.metadata.uid).not.toBe(pod.metadata.uid);
    expect(isPodReady(left)).toBe(true);
    const events = await cluster.list<Loose>('events', { fieldSelector: 'involvedObject.kind=Deployment' });
    expect(events.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['EvictionSurge', 'EvictionReplaced']),
    );
    expect(await evict(pod.metadata.name), 'as a drain finds it').toMatchObject({ code: 404 });
  });

  it('is so by the Namespace as well, and the Deployment may say otherwise', async () => {
    await cluster.patch('deployment/web', {
      metadata: { annotations: { 'rollkeeper.dev/on-eviction': null } },
    });
    await cluster.patch('namespace/default', {
      metadata: { annotations: { 'rollkeeper.dev/on-eviction': 'surge' } },
    });
    await cluster.settled(PATIENT);
    const pod = await onlyPod();
    await cordon(true);
    expect(await evict(pod.metadata.name)).toMatchObject({
      message: expect.stringContaining('before another'),
    });
    await cordon(false);
    await cluster.settled(PATIENT);
    const next = await onlyPod();
    expect(next.metadata.uid).not.toBe(pod.metadata.uid);
    await cluster.apply(annotated({ 'rollkeeper.dev/on-eviction': '' }));
    await cluster.settled(PATIENT);
    expect(await evict(next.metadata.name)).toMatchObject({ message: expect.stringContaining('budget') });
  });

  it('is the mark alone where a drainer sets it itself', async () => {
    await cluster.apply(annotated({ 'rollkeeper.dev/on-eviction': 'surge' }));
    await cluster.settled(PATIENT);
    const pod = await onlyPod();
    await cluster.patch(`pod/${pod.metadata.name}`, { metadata: { annotations: { [ASKED]: 'node-1' } } });
    await cluster.settled(PATIENT);
    expect((await onlyPod()).metadata.uid).not.toBe(pod.metadata.uid);
  });
});
