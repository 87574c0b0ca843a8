import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { createHttpApiClient, isNotFound, loadKubeconfig } from '../../src/client/api-client/index.js';
import { ApiServer } from '../../src/apiserver/server/api-server.js';
import { createKindRegistry } from '../../src/apiserver/kinds/index.js';
import { createSchemaRegistry } from '../../src/apiserver/schema/index.js';
import { MemoryStorage } from '../../src/apiserver/storage/index.js';
import { SystemClock, SystemRandom } from '../../src/machinery/clock/index.js';
import type { ControllerDefinition } from '../../src/runtime/controller/index.js';
import { buildController } from '../../src/runtime/controller/index.js';
import { decideUnobserved } from '../../src/runtime/operator/define/sync-steps.js';
import { garbageCollectorController } from '../../src/controllers/garbage-collector/garbage-collector-definition.js';
import { namespaceController } from '../../src/controllers/namespace/namespace-definition.js';
import { InformerFactory } from '../../src/client/informer/index.js';
import type { KubernetesObject, OwnerReference } from '../../src/machinery/kubernetes/index.js';
import {
  Deployment,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  keyOf,
  parseKey,
} from '../../src/machinery/kubernetes/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { KeyedExecutor } from '../../src/simulator/keyed-executor.js';
import { trace } from '@opentelemetry/api';
import { runNodeProcess } from '../../src/rollkeeper/replica/scheduler-process/run-node-process.js';
import { waitFor as waitForUpTo } from '../../src/testing/wait-for.js';

/** Generous, because the whole cluster shares a process that may share its machine. */
const waitFor = (condition: () => Promise<boolean>, { what }: { what: string }) =>
  waitForUpTo(condition, { what, intervalMs: 50 });
const clock = new SystemClock();
const random = new SystemRandom();
const logger = silentLogger;
const stopper = new AbortController();
const { signal } = stopper;
const dir = mkdtempSync(join(tmpdir(), 'rollkeeper-nodes-'));
const running: Promise<unknown>[] = [];
let client: HttpApiClient;

beforeAll(async () => {
  const storage = new MemoryStorage({ clock });
  const server = new ApiServer({
    storage,
    kinds: createKindRegistry(),
    schemas: createSchemaRegistry(),
    clock,
    random,
    logger,
  });
  running.push(storage.run(signal), server.run(signal));
  const { url } = await server.ready;
  const kubeconfig = join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigFor(url));
  const connection = await loadKubeconfig({ path: kubeconfig, clock });
  client = createHttpApiClient({ connection, userAgent: 'test', clock });
  await new Promise<void>((onReady) => {
    running.push(
      runNodeProcess(
        { kubeconfig, nodes: 3, scheduler: {} },
        { logger, tracer: trace.getTracer('test'), userAgent: 'test (node)', onReady },
        signal,
      ),
    );
  });
  await runControllers([garbageCollectorController, namespaceController]);
});

afterAll(async () => {
  stopper.abort();
  await Promise.allSettled(running);
  await client.close();
  rmSync(dir, { recursive: true, force: true });
});

/** The controllers with a queue in this process: no Redis is needed to see what they do to an API. */
async function runControllers(definitions: readonly ControllerDefinition[]): Promise<void> {
  const informers = new InformerFactory({ client, clock, random, logger, freeze: true });
  const events = { record: () => undefined };
  const built = definitions.map((definition) =>
    buildController(definition, { informers, discovery: client, events, clock, random, logger }),
  );
  running.push(informers.run(signal));
  await informers.waitForSync(signal);
  for (const controller of built) {
    const intents = {
      current: undefined,
      store: () => Promise.resolve(),
      clear: () => undefined,
      settledAt: () => undefined,
    };
    const executor = new KeyedExecutor(
      async (key, signal) => {
        const result = await controller.sync(
          { key, ...parseKey(key) },
          { client, signal, intents },
          decideUnobserved,
        );
        return { wakeInMs: result.requeueAfterMs };
      },
      { concurrency: 20, clock, logger },
    );
    running.push(executor.run(signal));
    if (controller.leading) running.push(controller.leading.run(signal));
    await controller.leading?.waitUntilReady(signal);
    controller.watch(
      ({ ref, delayMs = 0 }) => void clock.setTimeout(() => executor.add(keyOf(ref)), delayMs),
    );
  }
}

function kubeconfigFor(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server } }],
    users: [{ name: 'test', user: {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  });
}

function refTo({ apiVersion, kind, metadata: { name, uid = '' } }: KubernetesObject): OwnerReference {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

const template = (app: string) => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image: 'nginx:1.27' }] },
});

/** A Deployment with a ReplicaSet and its pods, made by hand: their controllers do not run here. */
async function aTree(name: string, pods: number, namespace = 'default') {
  const body = { selector: { matchLabels: { app: name } }, template: template(name), replicas: pods };
  const apps = { apiVersion: 'apps/v1', spec: body };
  const deployment = await client.create(Deployment, {
    ...apps,
    kind: 'Deployment',
    metadata: { name, namespace },
  });
  const replicaSet = await client.create<ReplicaSet>(ReplicaSet, {
    ...apps,
    kind: 'ReplicaSet',
    metadata: { name: `${name}-1`, namespace, labels: { app: name }, ownerReferences: [refTo(deployment)] },
  });
  await Promise.all(
    Array.from({ length: pods }, (_, index) =>
      client.create<Pod>(Pod, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: `${name}-1-${index}`,
          namespace,
          labels: { app: name },
          ownerReferences: [refTo(replicaSet)],
        },
        spec: template(name).spec,
      }),
    ),
  );
}

async function podsOf(app: string, namespace = 'default'): Promise<readonly Pod[]> {
  return (await client.list<Pod>(Pod, { namespace, labelSelector: `app=${app}` })).items;
}

const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

const allReady = (app: string, count: number, namespace?: string) =>
  waitFor(
    async () => {
      const pods = await podsOf(app, namespace);
      return pods.length === count && pods.every(isReady);
    },
    { what: `${count} ready pods of ${app}` },
  );

const gone = (app: string) =>
  waitFor(
    async () =>
      (await podsOf(app)).length === 0 &&
      (await client.list(ReplicaSet, { labelSelector: `app=${app}` })).items.length === 0,
    { what: `the tree of ${app} to be gone` },
  );

describe('simulated nodes on the embedded API', () => {
  it('are registered and ready', async () => {
    const { items } = await client.list(Node);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['node-0', 'node-1', 'node-2']);
  });

  it('run 300 pods and spread them', async () => {
    await aTree('many', 300);
    await allReady('many', 300);
    const pods = await podsOf('many');
    expect(new Set(pods.map(({ status }) => status?.podIP)).size).toBe(300);
    for (const node of ['node-0', 'node-1', 'node-2']) {
      expect(pods.filter(({ spec }) => spec.nodeName === node)).toHaveLength(100);
    }
  });

  it('let a whole Deployment go when it is deleted in the background', async () => {
    await client.delete(
      Deployment,
      { namespace: 'default', name: 'many' },
      { propagationPolicy: 'Background' },
    );
    await gone('many');
  });

  it('let a Deployment go last when it is deleted in the foreground', async () => {
    await aTree('last', 5);
    await allReady('last', 5);
    const ref = { namespace: 'default', name: 'last' };
    await client.delete(Deployment, ref, { propagationPolicy: 'Foreground' });
    await waitFor(() => client.get(Deployment, ref).then(() => false, isNotFound), {
      what: 'the Deployment',
    });
    expect(await podsOf('last')).toEqual([]);
  });

  it('keep the pods of an orphaned ReplicaSet', async () => {
    await aTree('kept', 3);
    const ref = { namespace: 'default', name: 'kept' };
    await client.delete(Deployment, ref, { propagationPolicy: 'Orphan' });
    await waitFor(() => client.get(Deployment, ref).then(() => false, isNotFound), {
      what: 'the Deployment',
    });
    const replicaSet = await client.get(ReplicaSet, { namespace: 'default', name: 'kept-1' });
    expect(replicaSet.metadata.ownerReferences ?? []).toEqual([]);
    expect(await podsOf('kept')).toHaveLength(3);
  });

  it('empty a namespace that is deleted', async () => {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'doomed' } });
    await aTree('inside', 10, 'doomed');
    await allReady('inside', 10, 'doomed');
    await client.delete(Namespace, { name: 'doomed' });
    await waitFor(() => client.get(Namespace, { name: 'doomed' }).then(() => false, isNotFound), {
      what: 'the namespace to be gone',
    });
    expect((await client.list(Pod, { namespace: 'doomed' })).items).toEqual([]);
  });
});
