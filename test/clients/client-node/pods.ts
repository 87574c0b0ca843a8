import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { AppsV1Api, CoreV1Api, Exec, Log, Metrics, topNodes, topPods } from '@kubernetes/client-node';
import type { V1Pod } from '@kubernetes/client-node';
import { waitFor } from '../../../src/testing/wait-for.js';
import type { ClientCheck, Place } from '../check.js';
import { PATIENT } from '../check.js';
import { createDeployment, kubeConfigOf, refused } from './support.js';

export const POD_CHECKS: readonly ClientCheck[] = [
  {
    name: 'sees a Deployment come to life, reads its pods’ logs, and evicts one',
    async run(place) {
      const { cluster, namespace } = place;
      const config = kubeConfigOf(cluster);
      const [apps, core] = [config.makeApiClient(AppsV1Api), config.makeApiClient(CoreV1Api)];
      await createDeployment(apps, namespace, { replicas: 2 });
      const ready = async () => {
        const { status } = await apps.readNamespacedDeploymentStatus({ namespace, name: 'web' });
        return status?.availableReplicas === 2;
      };
      await waitFor(ready, { ...PATIENT, what: 'two available replicas' });
      const [first] = await podsOf(place);
      const { name = '', uid } = first?.metadata ?? {};
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
      await core.createNamespacedPodEviction({ namespace, name, body });
      const isReplaced = async () =>
        (await podsOf(place)).every(({ metadata }) => metadata?.uid !== uid) && ready();
      await waitFor(isReplaced, { ...PATIENT, what: 'another pod in its place' });
    },
  },
  {
    name: 'reads a log, and is refused where there is no kubelet behind a pod',
    async run(place) {
      const { cluster, namespace } = place;
      const config = kubeConfigOf(cluster);
      const core = config.makeApiClient(CoreV1Api);
      const name = 'talks';
      const annotations = { 'node.rollkeeper.dev/logs.web': 'one\ntwo\n' };
      const spec = {
        containers: [
          { name: 'web', image: 'nginx' },
          { name: 'mute', image: 'nginx' },
        ],
      };
      await core.createNamespacedPod({ namespace, body: { metadata: { name, annotations }, spec } });
      await cluster.waitFor(`${namespace}/pod/${name}`, 'condition=Ready', PATIENT);
      const log = await core.readNamespacedPodLog({ namespace, name, container: 'web', tailLines: 1 });
      assert.equal(log, 'two\n');
      const written = new Collected();
      await new Log(config).log(namespace, name, 'web', written, {});
      await waitFor(() => written.text === 'one\ntwo\n', { ...PATIENT, what: 'the whole log' });
      const mute = core.readNamespacedPodLog({ namespace, name, container: 'mute' });
      assert.match((await refused(mute, 500)).message, /connection refused/);
      const exec = new Exec(config).exec(namespace, name, 'web', ['ls'], written, null, null, false);
      const outcome = await exec.then(
        () => 'connected',
        (error: unknown) => error,
      );
      assert.notEqual(outcome, 'connected');
      assert.match(messageOf(outcome), /500/);
    },
  },
  {
    name: 'shows what nodes and pods use',
    async run({ cluster, namespace }) {
      const config = kubeConfigOf(cluster);
      const core = config.makeApiClient(CoreV1Api);
      const annotations = { 'node.rollkeeper.dev/cpu-usage': '250m' };
      const body = {
        metadata: { name: 'busy', annotations },
        spec: { containers: [{ name: 'web', image: 'nginx', resources: { requests: { cpu: '1' } } }] },
      };
      await core.createNamespacedPod({ namespace, body });
      await cluster.waitFor(`${namespace}/pod/busy`, 'condition=Ready', PATIENT);
      const metrics = new Metrics(config);
      const isMeasured = async () => (await metrics.getPodMetrics(namespace)).items.length === 1;
      await waitFor(isMeasured, { ...PATIENT, what: 'metrics of the pod' });
      const [pod] = await topPods(core, metrics, namespace);
      assert.deepEqual([pod?.CPU.CurrentUsage, pod?.CPU.RequestTotal], [0.25, 1]);
      assert.deepEqual(
        (await topNodes(core)).map(({ Node }) => Node.metadata?.name),
        ['node-0', 'node-1', 'node-2'],
      );
      assert.equal((await metrics.getNodeMetrics()).items.length, 3);
    },
  },
];

async function podsOf({ cluster, namespace }: Place): Promise<V1Pod[]> {
  const core = kubeConfigOf(cluster).makeApiClient(CoreV1Api);
  return (await core.listNamespacedPod({ namespace, labelSelector: 'app=web' })).items;
}

/** The message of an outcome: its WebSocket library rejects with an event that holds the error. */
function messageOf(outcome: unknown): string {
  const { error, message } = outcome as { error?: Error; message?: string };
  return error?.message ?? message ?? String(outcome);
}

class Collected extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
