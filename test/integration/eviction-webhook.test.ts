import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '../../src/machinery/kubernetes/index.js';
import { isPodReady } from '../../src/machinery/kubernetes/index.js';
import { runReplica } from '../../src/rollkeeper/replica/index.js';
import { compileReplicaOptions } from '../../src/rollkeeper/replica/replica.options.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import { freePort } from '../../src/machinery/listening.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { evictPod } from './support/evict-pod.js';
import { web } from './support/managed-cluster.js';

const ASKED = 'rollkeeper.dev/eviction-asked';

/** The replica works beside the cluster, as it does beside a real one: the cluster runs neither of its controllers. */
describe('the webhook of evictions', () => {
  const stopper = new AbortController();
  let cluster: TestCluster;
  let replica: Promise<void>;

  beforeAll(async () => {
    const deployment = web({ api: 'apps/v1', spec: { replicas: 1 } });
    const annotations = { 'rollkeeper.dev/on-eviction': 'surge' };
    cluster = await startTestCluster({
      ...{ nodes: 2, controllers: 'disruption,garbage-collector' },
      manifests: [{ ...deployment, metadata: { ...deployment.metadata, annotations } }],
    });
    const port = await freePort();
    const options = compileReplicaOptions({
      ...{ coordination: 'local', identity: 'replica-1', 'log-level': 'error' },
      ...{ kubeconfig: cluster.kubeconfig.path, controllers: 'deployment,replicaset' },
      'eviction-webhook': `https://127.0.0.1:${port}`,
      'eviction-webhook-port': port,
    });
    replica = runReplica(options, () => undefined, stopper.signal);
    await waitFor(async () => (await podsOf()).some(isPodReady), { what: 'a pod' });
    const [pod] = await podsOf();
    // The server hears of the webhook a moment after it was installed.
    await waitFor(async () => isOfWebhook(await evict(pod?.metadata.name ?? '', ['All'])), {
      what: 'the server to ask the webhook',
    });
  });
  afterAll(async () => {
    stopper.abort();
    await replica;
    await cluster.stop();
  });

  const podsOf = () => cluster.list<Pod>('pods', { labelSelector: 'app=web' });
  const evict = (name: string, dryRun: readonly string[] = []) => evictPod(cluster, name, { dryRun });
  const isOfWebhook = (answer: Awaited<ReturnType<typeof evict>>): boolean =>
    answer?.message?.startsWith('admission webhook "pods-eviction.core.k8s.io" denied the request') === true;

  it('marks nothing where an eviction is only tried', async () => {
    const [pod] = await podsOf();
    expect(pod?.metadata.annotations?.[ASKED]).toBeUndefined();
  });

  it('answers with 429, as a used-up budget does, and the pod goes when another one is available', async () => {
    const [pod] = await podsOf();
    const answer = await evict(pod?.metadata.name ?? '');
    expect(answer).toMatchObject({ code: 429, reason: 'TooManyRequests' });
    expect(answer?.message).toBe(
      'admission webhook "pods-eviction.core.k8s.io" denied the request: Cannot evict pod before another one is available in its place: ' +
        'Deployment web starts another pod first (rollkeeper.dev/on-eviction: surge)',
    );
    const left = await waitFor(
      async () => {
        const pods = await podsOf();
        expect(pods.some(isPodReady), 'a pod is ready at any time').toBe(true);
        return pods.length === 1 && pods[0]?.metadata.uid !== pod?.metadata.uid ? pods[0] : undefined;
      },
      { what: 'the pod to be replaced' },
    );
    expect(left && isPodReady(left)).toBe(true);
  });

  it('has nothing against the eviction of a pod that is nobody’s', async () => {
    await cluster.apply({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'alone', namespace: 'default' } },
      spec: { containers: [{ name: 'main', image: 'web:1' }] },
    });
    expect(await evict('alone')).toBeUndefined();
  });
});
