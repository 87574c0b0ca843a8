import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { untyped, Event, Lease, Pod } from '../../src/machinery/kubernetes/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

/*
 * Two schedulers; the one that holds the Lease is killed while it schedules.
 *  1. every pod is bound in the end;
 *  2. none is bound to two nodes, and none is said to have been scheduled twice;
 *  3. no node has more pods than it takes, at any time.
 */

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const PODS_WANTED = 200;
const PODS_PER_NODE = 70;
const LEASE = { namespace: 'kube-system', name: 'rollkeeper-scheduler' };

let cluster: TestCluster;
const schedulers = new Map<string, ChildProcess>();

const start = (identity: string): void => {
  const flags = ['--kubeconfig', cluster.kubeconfig.path, '--identity', identity];
  const child = spawn(process.execPath, [MAIN, 'scheduler', ...flags], { stdio: 'ignore' });
  schedulers.set(identity, child);
};
const holder = async (): Promise<string | undefined> => {
  const { items } = await cluster.client.list<Lease>(Lease, { namespace: LEASE.namespace });
  return items.find(({ metadata }) => metadata.name === LEASE.name)?.spec?.holderIdentity || undefined;
};
const allPods = async (): Promise<readonly Pod[]> =>
  (await cluster.client.list<Pod>(Pod, { namespace: 'default' })).items;

beforeAll(async () => {
  cluster = await startTestCluster({
    controllers: [],
    nodes: { nodes: 3, podsPerNode: PODS_PER_NODE },
    scheduler: false,
  });
});
afterAll(async () => {
  for (const child of schedulers.values()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
  await cluster.stop();
});

it('a scheduler that is killed in the middle of 200 pods is replaced: none is lost, none bound twice, no node overfull', async () => {
  start('first');
  await waitFor(async () => (await holder()) === 'first', { what: 'the first to lead' });
  start('second');
  const boundTo = new Map<string, Set<string>>();
  const perNode: Record<string, number> = {};
  const stopper = new AbortController();
  const watching = (async () => {
    const { resourceVersion } = await cluster.client.list(Pod);
    const watch = cluster.client.watch<Pod>(Pod, {
      namespace: 'default',
      resourceVersion,
      timeoutSeconds: 600,
      idleTimeoutMs: 600_000,
      signal: stopper.signal,
    });
    for await (const event of watch) {
      if (event.type === 'BOOKMARK') continue;
      const { metadata, spec } = event.object;
      if (!spec.nodeName) continue;
      const nodes = boundTo.get(metadata.name) ?? new Set();
      if (nodes.size === 0) perNode[spec.nodeName] = (perNode[spec.nodeName] ?? 0) + 1;
      boundTo.set(metadata.name, nodes.add(spec.nodeName));
    }
  })().catch(() => undefined);
  const creating = Array.from({ length: PODS_WANTED }, (_, index) =>
    cluster.client.create<Pod>(Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `pod-${index}`, namespace: 'default' },
      spec: { containers: [{ name: 'main', image: 'nginx' }] },
    }),
  );
  await waitFor(() => boundTo.size > PODS_WANTED / 8, { what: 'some pods to be bound', intervalMs: 1 });
  schedulers.get('first')?.kill('SIGKILL');
  await Promise.all(creating);
  await waitFor(async () => (await holder()) === 'second', { what: 'the second to lead' });
  await waitFor(async () => (await allPods()).every(({ spec }) => spec.nodeName), {
    what: 'all to be bound',
  });
  await waitFor(() => boundTo.size === PODS_WANTED, { what: 'the watch to have seen it' });
  stopper.abort();
  await watching;
  expect([...boundTo.values()].every((nodes) => nodes.size === 1)).toBe(true);
  expect(Math.max(...Object.values(perNode))).toBeLessThanOrEqual(PODS_PER_NODE);
  const { items } = await cluster.client.list<
    KubernetesObject & { reason: string; involvedObject: { uid: string } }
  >(untyped(Event), { namespace: 'default' });
  const scheduled = items
    .filter(({ reason }) => reason === 'Scheduled')
    .map(({ involvedObject }) => involvedObject.uid);
  expect(new Set(scheduled).size).toBe(scheduled.length);
}, 180_000);
