// News of the replicas: the leader changes, one joins, one does not answer.
import { call } from '/console/feed.js';

const KEPT = 50;

/** Takes in a snapshot of the replicas, and notes what is different. */
export function takeInCluster(state, { cluster, nowMs, queues }) {
  const before = state.cluster;
  if (before) for (const what of newsOf(before, cluster)) note(state, what);
  state.cluster = cluster;
  state.queues = queues;
  if (!queues.some(({ controller }) => controller === state.queueShown))
    state.queueShown = queues[0]?.controller ?? '';
  state.clusterAtMs = performance.now();
  state.skewMs = nowMs - Date.now();
}

function note(state, what) {
  state.history = [{ atMs: state.nowMs, what }, ...state.history].slice(0, KEPT);
}

function newsOf(before, cluster) {
  const news = [];
  if (before.leader !== cluster.leader || before.epoch !== cluster.epoch)
    news.push(
      cluster.leader
        ? `${cluster.leader} leads now (epoch ${cluster.epoch})${before.leader ? `, after ${before.leader}` : ''}`
        : `${before.leader} is no longer the leader`,
    );
  const known = new Map(before.replicas.map((replica) => [replica.identity, replica]));
  for (const replica of cluster.replicas) {
    const was = known.get(replica.identity);
    if (!was) news.push(`${replica.identity} joined`);
    else if (was.pid !== replica.pid) news.push(`${replica.identity} restarted as process ${replica.pid}`);
    else if (was.reachable !== replica.reachable)
      news.push(`${replica.identity} ${replica.reachable ? 'answers again' : 'does not answer'}`);
    known.delete(replica.identity);
  }
  return [...news, ...[...known.keys()].map((identity) => `${identity} has stopped`)];
}

/** Events from before this page was opened, as far as the replica saw them. */
export async function recall({ set }) {
  try {
    const { transitions } = await call('GET', '/admin/leadership');
    set({
      history: transitions
        .map(({ at, epoch, who, why }) => ({
          atMs: Date.parse(at),
          what: `${who.replace(/_[^_]*$/, '') || 'no leader'}: ${why === 'observed' ? 'seen as leader' : why} (epoch ${epoch})`,
        }))
        .toReversed(),
    });
  } catch {
    // Older release, or not allowed: the page starts with what it sees.
  }
}
