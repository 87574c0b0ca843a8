import type { ReplicaStatus } from '../../src/rollkeeper/admin/server/index.js';
import type { ChaosSet } from './set/chaos-set.js';
import type { ChaosReplica } from './set/replica.js';

/**
 * The keys that wait, run, or are parked in the queues, by a replica's admin page; empty if there are none. All
 * replicas share the queues in Redis; without Redis they are the leader's own, and with slots each replica's own.
 */
export async function findQueued(set: ChaosSet): Promise<string[]> {
  // Queues in slots are in the memory of the slots' owners, so all replicas have to answer.
  if (set.slots > 0) return (await Promise.all(set.replicas.map(queuedOn))).flat();
  const replica =
    set.coordination === 'leases' ? await set.leader() : set.replicas.find(({ process }) => process.isReady);
  return replica ? queuedOn(replica) : ['no replica is ready, or none leads'];
}

async function queuedOn(replica: ChaosReplica): Promise<string[]> {
  const answer = await fetch(`${replica.process.adminUrl}/admin/status`, {
    signal: AbortSignal.timeout(3000),
  }).catch(() => undefined);
  if (!answer?.ok) return [`${replica.name} does not answer`];
  const { controllers } = (await answer.json()) as ReplicaStatus;
  return controllers.flatMap(({ name, queue }) => {
    if (!queue) return [`the queue of ${name} cannot be read`];
    const { active, parked, waiting } = queue;
    return waiting + active + parked === 0
      ? []
      : [`queue ${name} of ${replica.name}: ${waiting} waiting, ${active} active, ${parked} parked`];
  });
}
