import type { ClusterSnapshot, LeadershipStatus } from '../admin/index.js';
import type { Asked, Finding } from './finding.js';
import { failure, ok, orElse, skipped, warning } from './finding.js';

/** The same as of the alert RollkeeperManyFailovers. */
const MANY_CHANGES = 4;
const WITHIN_MS = 15 * 60_000;

export interface LeaderFacts {
  readonly snapshot: ClusterSnapshot;
  readonly leadership?: LeadershipStatus;
}

export function decideLeader(asked: Asked<LeaderFacts>, nowMs: number): readonly Finding[] {
  if (asked.is !== 'answered') return [skipped('leader', 'no replica could be asked')];
  const { leadership, snapshot } = asked.value;
  const { epoch, leader, lease } = snapshot;
  const claims = snapshot.replicas.filter((replica) => replica.leader).map(({ identity }) => identity);
  if (leader === undefined)
    return [
      failure(
        'leader',
        lease && lease.holder !== ''
          ? `no replica leads: the lease of ${lease.holder} has ended`
          : 'no replica leads, so changes are not seen',
        'look at `/readyz?verbose` of the replicas: without Redis, or without the right to update the Lease, none can lead (docs/LEADERSHIP.md)',
      ),
    ];
  const calm = ok(
    'leader',
    `${leader} leads, epoch ${epoch}${lease ? `, its lease lasts another ${Math.round(lease.remainingMs)} ms` : ''}`,
  );
  return orElse(
    [
      ...(claims.length > 1
        ? [
            warning(
              'leader',
              `${claims.join(' and ')} both say that they lead`,
              'a change of leader takes a moment: ask again; if it stays so, restart the one with the lower epoch',
            ),
          ]
        : []),
      ...(claims.length === 0
        ? [
            warning(
              'leader',
              `${leader} has the lease, and no replica that answers says that it leads`,
              'see whether it answers (check "replicas"); its lease ends by itself if its process is gone',
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
      'renewals come too late: give the pods more CPU, look at the latency of Redis, and raise leaderElection.leaseDurationMs only after that',
    ),
  ];
}
