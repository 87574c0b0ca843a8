import { setTimeout as pause } from 'node:timers/promises';
import { isAlreadyExists } from '../../../src/client/api-client/index.js';
import {
  Deployment,
  Namespace,
  Pod,
  ReplicaSet,
  ResourceQuota,
  keyOf,
} from '../../../src/machinery/kubernetes/index.js';
import type { KeyView } from '../../../src/runtime/work-queue/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import { aDeployment } from '../../e2e/support/a-deployment.js';
import type { ChaosSet } from '../set/chaos-set.js';
import type { ChaosReplica } from '../set/replica.js';
import type { Fault, FaultContext } from './fault.js';

/** The preload lets keys of such namespaces park after a few failures, not after three minutes. */
const PREFIX = 'parks-';
const QUOTA = 'pods';
const NAME = 'refused';
/** The longest time that a sync, its retries and other faults at the same time may take. */
const WITHIN_MS = 30_000;
/** The change that mends may come while the failing sync runs, while the key waits, and once it is parked. */
const LATEST_MEND_MS = 400;
let made = 0;

/**
 * A quota refuses the pods of a ReplicaSet until its key parks, or almost; then the quota grows. The pod must be created,
 * and the key must no longer be reported as parked.
 */
export const refuseThenMend: Fault = async (context) => {
  const { began, dice, set } = context;
  const { client } = set;
  const isParkedFirst = dice < 0.5;
  const namespace = `${PREFIX}${process.pid}-${++made}`;
  await insist(() => client.create(Namespace, namespaceOf(namespace)), context);
  await insist(() => client.create(ResourceQuota, quotaOf(namespace)), context);
  began(isParkedFirst ? 'a parked key' : 'a key that fails');
  try {
    await insist(() => client.create(Deployment, aDeployment({ name: NAME, namespace })), context);
    const key = await keyOfReplicaSet(namespace, context);
    if (isParkedFirst) await untilParked(key, context);
    else await pause(LATEST_MEND_MS * ((dice * 14) % 1));
    await allowPods(namespace, context);
    await expectMended(key, namespace, context);
  } finally {
    await client.delete(Namespace, { name: namespace }).catch(() => undefined);
  }
};

function namespaceOf(name: string) {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function quotaOf(namespace: string) {
  const metadata = { namespace, name: QUOTA };
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: { pods: '0' } } };
}

async function allowPods(namespace: string, { patience, set }: FaultContext): Promise<void> {
  const body = { spec: { hard: { pods: '10' } } };
  const patched = async (): Promise<boolean> =>
    set.client.patch(ResourceQuota, { namespace, name: QUOTA }, { type: 'merge', body }).then(
      () => true,
      () => false,
    );
  await waitFor(patched, { timeoutMs: WITHIN_MS * patience, what: 'the quota to be set' });
}

/** Retries until the object is there, no matter which try created it: the answer may be lost. */
async function insist(create: () => Promise<unknown>, { patience }: FaultContext): Promise<void> {
  const isThere = (): Promise<boolean> => create().then(() => true, isAlreadyExists);
  await waitFor(isThere, { timeoutMs: WITHIN_MS * patience, what: 'an object to be created' });
}

async function keyOfReplicaSet(namespace: string, { patience, set }: FaultContext): Promise<string> {
  let key = '';
  const look = async (): Promise<boolean> => {
    const found = await set.client.list<ReplicaSet>(ReplicaSet, { namespace }).catch(() => undefined);
    const [first] = found?.items ?? [];
    if (first) key = keyOf(first.metadata);
    return first !== undefined;
  };
  await waitFor(look, { timeoutMs: WITHIN_MS * patience, what: 'the ReplicaSet' });
  return key;
}

/** Or not: beside other faults, each new leader and each change gives the key all its retries. */
async function untilParked(key: string, { set }: FaultContext): Promise<void> {
  const isParked = async (): Promise<boolean> => (await viewOf(set, key))?.parked !== undefined;
  await waitFor(isParked, { timeoutMs: WITHIN_MS, intervalMs: 50 }).catch(() => undefined);
}

async function expectMended(key: string, namespace: string, context: FaultContext): Promise<void> {
  const { failed, patience, set } = context;
  const timeoutMs = WITHIN_MS * patience;
  const hasPod = async (): Promise<boolean> => {
    const pods = await set.client.list<Pod>(Pod, { namespace }).catch(() => undefined);
    return (pods?.items.length ?? 0) > 0;
  };
  await waitFor(hasPod, { timeoutMs, intervalMs: 50 }).catch(() =>
    failed(`${key} was mended, and its pod was not created within ${timeoutMs} ms`),
  );
  const isClear = async (): Promise<boolean> => {
    const view = await viewOf(set, key);
    return view !== undefined && view.parked === undefined;
  };
  await waitFor(isClear, { timeoutMs, intervalMs: 50 }).catch(() =>
    failed(`${key} was mended, and is still reported as parked after ${timeoutMs} ms`),
  );
}

/** As an admin page says; undefined where none answers. Without a Redis the leader's queue counts. */
async function viewOf(set: ChaosSet, key: string): Promise<KeyView | undefined> {
  if (set.slots > 0) {
    // The key is parked in the memory of the owner of its slot.
    const views = await Promise.all(set.replicas.map((replica) => viewOn(replica, key)));
    return views.find((view) => view?.parked !== undefined) ?? views.find((view) => view !== undefined);
  }
  const replica =
    set.coordination === 'leases' ? await set.leader() : set.replicas.find(({ process }) => process.isReady);
  return replica && viewOn(replica, key);
}

async function viewOn(replica: ChaosReplica, key: string): Promise<KeyView | undefined> {
  if (!replica.process.isReady) return undefined;
  const url = `${replica.process.adminUrl}/admin/queues/replicaset/key?key=${encodeURIComponent(key)}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(3000) }).catch(() => undefined);
  return answer?.ok ? ((await answer.json()) as KeyView) : undefined;
}
