import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpApiClient } from '../src/client/api-client/index.js';
import type { KubernetesObject } from '../src/machinery/kubernetes/index.js';
import { Deployment, Namespace, Pod, ReplicaSet, shardHash } from '../src/machinery/kubernetes/index.js';
import type { ReplicaLine } from '../src/rollkeeper/replica/supervisor/status.js';
import { askStatus } from '../src/rollkeeper/replica/supervisor/replica-probe.js';
import { waitFor } from '../src/testing/wait-for.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { Up } from '../test/e2e/support/up.js';
import { number, numbers, readFlags } from '../test/support/flags.js';
import { cpuSeconds, memoryOf } from './support/process-figures.js';

/*
 * Measures replicas that share namespaces by slots: what each keeps, what all of them need for rollouts in every namespace, and how
 * soon changes are answered that are made right after one of them was killed.
 */

const flags = readFlags('npm run bench -- --slots', {
  slots: numbers('replicas; one measurement each', [1, 3, 5]),
  count: number('slots; 0: none, and every replica keeps everything', 16),
  namespaces: number('each with one Deployment', 48),
  pods: number('of each Deployment', 4),
  kills: number('of a replica that does not lead', 20),
});

/** Names that differ at their beginning, as hashes by FNV need it. */
const NAMES = Array.from(
  { length: flags.namespaces },
  (_, index) => `n${shardHash(String(index)).toString(36)}`,
);
const SETTLED_MS = 3000;
const CONTROLLERS = 'deployment,replicaset,serviceaccount,garbage-collector,namespace';

for (const replicas of flags.slots) await measure(replicas);

async function measure(replicas: number): Promise<void> {
  const up = await Up.start({
    args: [
      ...['--replicas', String(replicas), '--', '--controllers', CONTROLLERS, '--slots', String(flags.count)],
      ...['--max-rollouts', 'off', '--notification-hosts', '', '--problems', 'none'],
    ],
  });
  const client = await up.client();
  try {
    await fill(client);
    await shared(up, replicas);
    console.log(
      `${replicas} replicas, ${flags.count} slots, ${NAMES.length} namespaces x ${flags.pods} pods`,
    );
    await printKept(up);
    await printRollouts(up, client);
    if (replicas > 1) await printGaps(up, client, replicas);
  } finally {
    await client.close();
    await up.stopAndRemove();
  }
}

async function fill(client: HttpApiClient): Promise<void> {
  for (const name of NAMES)
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await Promise.all(
    NAMES.map((namespace) =>
      client.create(Deployment, aDeployment({ namespace, name: 'web', replicas: flags.pods })),
    ),
  );
  await rolledOut(client, 'web:1');
}

async function rolledOut(client: HttpApiClient, image: string): Promise<void> {
  const areDone = async (): Promise<boolean> => {
    const { items } = await client.list<Deployment>(Deployment, {});
    return items.every(
      ({ metadata, spec, status }) =>
        spec.template.spec?.containers[0]?.image === image &&
        status?.observedGeneration === metadata.generation &&
        [status?.updatedReplicas, status?.replicas, status?.availableReplicas].every(
          (size) => size === flags.pods,
        ),
    );
  };
  await waitFor(areDone, { timeoutMs: 300_000, intervalMs: 50, what: `all rollouts of ${image}` });
}

/** How many slots a replica owns and stands by for; undefined without an answer. */
async function slotsOf({ adminUrl }: ReplicaLine): Promise<{ owner: number; standby: number } | undefined> {
  const text = await fetch(`${adminUrl}/metrics`).then(
    (answer) => answer.text(),
    () => '',
  );
  const [owner, standby] = ['owner', 'standby'].map((role) =>
    Number(
      new RegExp(`^rollkeeper_slots\\{[^}]*role="${role}"[^}]*\\} (\\d+)$`, 'm').exec(text)?.[1] ??
        Number.NaN,
    ),
  );
  return owner === undefined || standby === undefined || Number.isNaN(owner) ? undefined : { owner, standby };
}

async function shared(up: Up, count: number): Promise<void> {
  const areShared = async (): Promise<boolean> => {
    const { replicas } = await up.status();
    if (replicas.length !== count || !replicas.some(({ leader }) => leader)) return false;
    if (flags.count === 0) return true;
    const held = await Promise.all(replicas.map(slotsOf));
    const owned = held.map((each) => each?.owner ?? 0);
    const stoodBy = held.reduce((sum, each) => sum + (each?.standby ?? 0), 0);
    const isWhole = owned.reduce((sum, each) => sum + each, 0) === flags.count;
    return isWhole && owned.every((each) => each > 0) && stoodBy === (count > 1 ? flags.count : 0);
  };
  await waitFor(areShared, { timeoutMs: 120_000, intervalMs: 50, what: 'all replicas to share the slots' });
}

async function printKept(up: Up): Promise<void> {
  const { replicas } = await up.status();
  const token = await up.adminToken();
  for (const replica of replicas) {
    const status = await askStatus(replica, token);
    const objects = status?.informers.reduce((sum, informer) => sum + informer.objects, 0) ?? 0;
    const pods = status?.informers.find(({ resource }) => resource === 'pods')?.objects ?? 0;
    const { owner = 0, standby = 0 } = (await slotsOf(replica)) ?? {};
    const resident = memoryOf(replica.pid).resident.toFixed(0);
    console.log(
      `  ${replica.leader ? 'leader' : 'other '} owns ${owner}, stands by for ${standby}: ${pods} pods, ${objects} objects, ${resident} MiB`,
    );
  }
}

async function printRollouts(up: Up, client: HttpApiClient): Promise<void> {
  const { apiServer, redis, replicas } = await up.status();
  const cpuOf = (pids: readonly (number | null | undefined)[]): number[] =>
    pids.map((pid) => (pid ? cpuSeconds(pid) : 0));
  const pids = [...replicas.map(({ pid }) => pid), apiServer?.pid, redis?.pid];
  const before = cpuOf(pids);
  const beganMs = performance.now();
  await Promise.all(NAMES.map((namespace) => patch(client, namespace, templateOf('web:2'))));
  await rolledOut(client, 'web:2');
  const seconds = (performance.now() - beganMs) / 1000;
  const used = cpuOf(pids).map((after, index) => after - (before[index] ?? 0));
  const ours = used.slice(0, replicas.length);
  const [ofServer = 0, ofRedis = 0] = used.slice(replicas.length);
  const sum = ours.reduce((total, each) => total + each, 0);
  console.log(
    `  rollouts: ${seconds.toFixed(1)} s; CPU of the replicas ${sum.toFixed(2)} s, of the busiest ${Math.max(...ours).toFixed(2)} s, of the API server ${ofServer.toFixed(2)} s, of Redis ${ofRedis.toFixed(2)} s`,
  );
  const pods = await client.list<Pod>(Pod, {});
  const sets = await client.list<ReplicaSet>(ReplicaSet, {});
  console.log(`  ${pods.items.length} pods, ${sets.items.length} ReplicaSets`);
}

/** From a signal to the last answer to changes made right after it in every namespace. */
async function printGaps(up: Up, client: HttpApiClient, count: number): Promise<void> {
  const calm = [await answered(client, 1), await answered(client, 2), await answered(client, 3)];
  const gaps: number[] = [];
  const uids = await podUids(client);
  for (let kill = 0; kill < flags.kills; kill++) {
    await shared(up, count);
    // The keys of slots that have moved are processed by then: a key whose replica is killed under it waits for the end of its lock.
    await sleep(SETTLED_MS);
    const others = (await up.status()).replicas.filter(({ leader }) => !leader);
    process.kill(others[kill % others.length]?.pid ?? 0, 'SIGKILL');
    gaps.push(await answered(client, 10 + kill));
  }
  const sorted = gaps.toSorted((one, other) => one - other);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
  const isSame = [...(await podUids(client))].every((uid) => uids.has(uid));
  console.log(
    `  all namespaces answered: ${Math.min(...calm).toFixed(0)} to ${Math.max(...calm).toFixed(0)} ms; after ${gaps.length} kills p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; pods made meanwhile: ${isSame ? 0 : 'some'}`,
  );
}

async function podUids(client: HttpApiClient): Promise<ReadonlySet<string>> {
  const { items } = await client.list<KubernetesObject>(Pod, {});
  return new Set(items.map(({ metadata }) => metadata.uid ?? ''));
}

/** Changes what needs no pods in each Deployment, and waits until each is observed. @returns milliseconds */
async function answered(client: HttpApiClient, round: number): Promise<number> {
  const beganMs = performance.now();
  await Promise.all(
    NAMES.map((namespace) => patch(client, namespace, { spec: { progressDeadlineSeconds: 600 + round } })),
  );
  const areSeen = async (): Promise<boolean> => {
    const { items } = await client.list<Deployment>(Deployment, {});
    return items.every(({ metadata, status }) => status?.observedGeneration === metadata.generation);
  };
  await waitFor(areSeen, { timeoutMs: 120_000, intervalMs: 10, what: 'all changes to be seen' });
  return performance.now() - beganMs;
}

function templateOf(image: string): object {
  return { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
}

function patch(client: HttpApiClient, namespace: string, body: unknown): Promise<unknown> {
  return client.patch(Deployment, { namespace, name: 'web' }, { type: 'strategic', body });
}
