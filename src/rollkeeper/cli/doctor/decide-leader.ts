import type { ClusterSnapshot, LeadershipStatus } from '../../admin/server/index.js';
import type { Asked, Finding } from './finding.js';
import { failure, ok, orElse, skipped, warning } from './finding.js';

/** The same as of the alert RollkeeperManyFailovers. */
const MANY_CHANGES = 4;
const WITHIN_MS = 15 * 60_000;

interface LeaderFacts {
  readonly snapshot: ClusterSnapshot;
  readonly leadership?: LeadershipStatus;
}

export function decideLeader(asked: Asked<LeaderFacts>, nowMs: number): readonly Finding[] {
  if (asked.is !== 'answered') return [skipped('leader', 'no replica answers')];
  const { leadership, snapshot } = asked.value;
  const { epoch, leader, lease } = snapshot;
  const claims = snapshot.replicas.filter((replica) => replica.leader).map(({ identity }) => identity);
  if (leader === undefined)
    return [
      failure(
        'leader',
        lease && lease.holder !== ''
          ? `no replica leads: the lease of ${lease.holder} has ended`
          : 'no replica leads, so changes are not reconciled',
        'check `/readyz?verbose` of the replicas: without Redis, or without the right to update the Lease, none can lead (docs/LEADERSHIP.md)',
      ),
    ];
  const calm = ok(
    'leader',
    `${leader} leads, epoch ${epoch}${lease ? `, its lease expires in ${Math.round(lease.remainingMs)} ms` : ''}`,
  );
  return orElse(
    [
      ...(claims.length > 1
        ? [
            warning(
              'leader',
              `${claims.join(' and ')} both report that they lead`,
              'a change of leader takes a moment: check again; if this persists, restart the replica with the lower epoch',
            ),
          ]
        : []),
      ...(claims.length === 0
        ? [
            warning(
              'leader',
              `${leader} has the lease, but no replica that answers reports that it leads`,
              'check whether it answers (check "replicas"); its lease expires if its process has ended',
            ),
          ]
        : []),
      ...decideChanges(leadership, nowMs),
    ],
    calm,
  );
}

function decideChanges(leadership: LeadershipStatus | undefined, nowMs: number): readonly Finding[] {
  const recent = (leadership?.transitions ?? []).filter(({ at }) => nowMs - Date.parse(at) < WITHIN_MS);
  if (recent.length <= MANY_CHANGES) return [];
  return [
    warning(
      'leader',
      `the leader changed ${recent.length} times in 15 minutes; last because: ${recent.at(-1)?.why ?? ''}`,
      'renewals come too late: give the pods more CPU, check the latency of Redis, and raise leaderElection.leaseDurationMs only after that',
    ),
  ];
}
