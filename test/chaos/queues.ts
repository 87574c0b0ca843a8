import type { ReplicaStatus } from '../../src/rollkeeper/admin/server/index.js';
import type { ChaosSet } from './set/chaos-set.js';

/**
 * The keys that wait, run, or are parked in the queues, by a replica's admin page; empty if there are none. All
 * replicas share the queues in Redis; without Redis they are the leader's own.
 */
export async function findQueued(set: ChaosSet): Promise<string[]> {
  const replica =
    set.coordination === 'leases' ? await set.leader() : set.replicas.find(({ process }) => process.isReady);
  if (!replica) return ['no replica is ready, or none leads'];
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
      : [`queue ${name}: ${waiting} waiting, ${active} active, ${parked} parked`];
  });
}
