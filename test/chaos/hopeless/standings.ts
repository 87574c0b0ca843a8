import type { QueueAnswer } from '../../../src/rollkeeper/admin/server/index.js';
import type { EventObject } from '../../../src/client/events/index.js';
import type { Explanation } from '../../../src/rollkeeper/insight/explain/index.js';
import { untyped, Deployment, Event } from '../../../src/machinery/kubernetes/index.js';
import type { ChaosSet } from '../set/chaos-set.js';
import type { Hopeless } from './hopeless-kinds.js';
import { hopelessIdIn } from './hopeless-kinds.js';

/** The signs of trouble that people can see of a hopeless Deployment. */
export interface Standing {
  readonly hopeless: Hopeless;
  /** The last error of its key, or of its ReplicaSet's, by the queue's page. */
  readonly parked?: string;
  /** When the first of them comes back, milliseconds from now, and after how many failures. */
  readonly delayed?: { readonly inMs: number; readonly failures: number };
  /** As `rollkeeper explain` has it. */
  readonly explained: Explanation;
  /** The Deployment's condition or, without one, a Warning event about it or its ReplicaSet. */
  readonly told?: string;
}

/** The contents of the pages of the queues, by the hopeless Deployment's id. */
interface Queued {
  readonly parked: ReadonlyMap<string, string>;
  readonly delayed: ReadonlyMap<string, NonNullable<Standing['delayed']>>;
}

export async function queuedOf(set: ChaosSet): Promise<Queued> {
  const parked = new Map<string, string>();
  const delayed = new Map<string, NonNullable<Standing['delayed']>>();
  for (const controller of ['replicaset', 'deployment']) {
    const view = await ask<QueueAnswer>(set, `/admin/queues/${controller}?limit=1000`);
    for (const { error, key } of view.parked) note(parked, key, error);
    for (const { dueMs, failures, key } of view.delayed) {
      const inMs = dueMs - Date.now();
      const other = delayed.get(hopelessIdIn(key) ?? '');
      if (!other || inMs < other.inMs) note(delayed, key, { inMs, failures });
    }
  }
  return { parked, delayed };
}

export async function standingsOf(set: ChaosSet, all: readonly Hopeless[]): Promise<Standing[]> {
  const { delayed, parked } = await queuedOf(set);
  const warnings = await warningsById(set);
  const standings: Standing[] = [];
  for (const hopeless of all) {
    const { id } = hopeless;
    const { name, namespace = '' } = hopeless.deployment.metadata;
    const { status } = await set.client.get<Deployment>(Deployment, { namespace, name });
    standings.push({
      hopeless,
      parked: parked.get(id),
      delayed: delayed.get(id),
      explained: await ask<Explanation>(set, `/admin/explain/deployments/${namespace}/${name}`),
      told: complaintOf(status) ?? warnings.get(id),
    });
  }
  return standings;
}

function complaintOf(status: Deployment['status']): string | undefined {
  const complaint = status?.conditions?.find(
    ({ status: is, type }) =>
      (type === 'Progressing' && is === 'False') || (type === 'ReplicaFailure' && is === 'True'),
  );
  return complaint && `${complaint.type} ${complaint.reason}: ${complaint.message}`;
}

async function warningsById({ client }: ChaosSet): Promise<Map<string, string>> {
  const { items } = await client.list<EventObject>(untyped(Event), { namespace: 'default' });
  const found = new Map<string, string>();
  for (const { involvedObject, message, reason, type } of items) {
    // Events about pods are those of the nodes, and are left out.
    if (type === 'Warning' && involvedObject.kind !== 'Pod')
      note(found, involvedObject.name, `event ${reason}: ${message}`);
  }
  return found;
}

function note<T>(map: Map<string, T>, name: string, value: T): void {
  const id = hopelessIdIn(name);
  if (id !== undefined) map.set(id, value);
}

async function ask<T>(set: ChaosSet, path: string): Promise<T> {
  const replica = set.replicas.find(({ process }) => process.isReady);
  const answer = await fetch(`${replica?.process.adminUrl}${path}`, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
