import assert from 'node:assert/strict';
import { CoreV1Api, Watch, makeInformer } from '@kubernetes/client-node';
import type { KubeConfig, V1ConfigMap } from '@kubernetes/client-node';
import { startTestCluster } from '../../../src/testing/cluster/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import { TcpLink } from '../../support/tcp-link.js';
import type { ClientCheck } from '../check.js';
import { PATIENT } from '../check.js';
import { kubeConfigOf, kubeConfigVia } from './support.js';

/** Over so few writes a watch of the short-sighted server can be resumed. */
const FEW = 20;

export const WATCH_CHECKS: readonly ClientCheck[] = [
  {
    name: 'watches from a resourceVersion, each change once and in order',
    async run({ cluster, namespace }) {
      const config = kubeConfigOf(cluster);
      const core = config.makeApiClient(CoreV1Api);
      const { metadata } = await core.listNamespacedConfigMap({ namespace });
      const seen: string[] = [];
      const watching = await new Watch(config).watch(
        `/api/v1/namespaces/${namespace}/configmaps`,
        { resourceVersion: metadata?.resourceVersion, fieldSelector: 'metadata.name=watched' },
        (type, object: V1ConfigMap) => seen.push(`${type} ${object.metadata?.name}`),
        () => undefined,
      );
      for (const name of ['unseen', 'watched'])
        await core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } });
      const at = { namespace, name: 'watched' };
      await core.replaceNamespacedConfigMap({ ...at, body: { metadata: at, data: { a: 'b' } } });
      await core.deleteNamespacedConfigMap(at);
      await waitFor(() => seen.at(-1)?.startsWith('DELETED'), { ...PATIENT, what: 'the deletion' });
      watching.abort();
      assert.deepEqual(seen, ['ADDED watched', 'MODIFIED watched', 'DELETED watched']);
    },
  },
  {
    name: 'has a watch that the server ends cleanly when its time is over',
    async run({ cluster, namespace }) {
      const ended = Promise.withResolvers<unknown>();
      const path = `/api/v1/namespaces/${namespace}/secrets`;
      const watch = new Watch(kubeConfigOf(cluster));
      await watch.watch(path, { timeoutSeconds: 1 }, () => undefined, ended.resolve);
      assert.equal(await ended.promise, null);
    },
  },
  {
    name: 'has an informer that misses and repeats nothing when its connection is cut',
    async run({ cluster, namespace }) {
      const link = await TcpLink.to(cluster.url);
      const informed = new Informed(kubeConfigVia(kubeConfigOf(cluster), link.url), namespace);
      const core = kubeConfigOf(cluster).makeApiClient(CoreV1Api);
      const create = (name: string) =>
        core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } });
      try {
        await create('before');
        await informed.start();
        await create('while');
        await informed.shows('add while');
        link.cut();
        await informed.isCutOff();
        await create('meanwhile');
        await core.deleteNamespacedConfigMap({ namespace, name: 'before' });
        link.heal();
        await informed.start();
        await informed.shows('delete before');
        await create('after');
        await informed.shows('add after');
        informed.hasSeen(['add before', 'add while', 'add meanwhile', 'delete before', 'add after']);
      } finally {
        await informed.stop();
        await link.close();
      }
    },
  },
  {
    name: 'has an informer that lists anew after a 410, and sees what went by its absence',
    async run() {
      await using cluster = await startTestCluster({ controllers: [], nodes: 0, watchHistory: FEW });
      const namespace = 'default';
      const link = await TcpLink.to(cluster.url);
      const informed = new Informed(kubeConfigVia(kubeConfigOf(cluster), link.url), namespace);
      const core = kubeConfigOf(cluster).makeApiClient(CoreV1Api);
      try {
        for (const name of ['stays', 'goes'])
          await core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } });
        await informed.start();
        link.cut();
        await informed.isCutOff();
        await core.deleteNamespacedConfigMap({ namespace, name: 'goes' });
        await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'comes' } } });
        for (let number = 0; number < 2 * FEW; number++) {
          const body = { metadata: { name: `other-${number}` } };
          await core.createNamespacedSecret({ namespace, body });
        }
        link.heal();
        await informed.start();
        await informed.shows('add comes');
        await informed.shows('delete goes');
        informed.hasSeen(['add goes', 'add stays', 'delete goes', 'add comes']);
      } finally {
        await informed.stop();
        await link.close();
      }
    },
  },
];

/** An informer of the ConfigMaps of a namespace, and what it has told. */
class Informed {
  private readonly told: string[] = [];
  private readonly failures: unknown[] = [];
  private readonly informer;

  constructor(config: KubeConfig, namespace: string) {
    const core = config.makeApiClient(CoreV1Api);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    this.informer = makeInformer(config, path, () => core.listNamespacedConfigMap({ namespace }));
    for (const verb of ['add', 'update', 'delete'] as const)
      this.informer.on(verb, ({ metadata }) => {
        // The namespace's own, which comes at a time of its own.
        if (metadata?.name !== 'kube-root-ca.crt') this.told.push(`${verb} ${metadata?.name}`);
      });
    this.informer.on('error', (error) => this.failures.push(error));
  }

  /** After a failure, too: it begins where it was. */
  start(): Promise<void> {
    return this.informer.start();
  }

  stop(): Promise<void> {
    return this.informer.stop();
  }

  async shows(event: string): Promise<void> {
    await waitFor(() => this.told.includes(event), { ...PATIENT, what: `${event} of ${this.told.join()}` });
  }

  async isCutOff(): Promise<void> {
    await waitFor(() => this.failures.length > 0, { ...PATIENT, what: 'an error of the informer' });
  }

  hasSeen(events: readonly string[]): void {
    assert.deepEqual([...this.told].sort(), [...events].sort());
  }
}
