import type { Meter } from '@opentelemetry/api';
import type { LeaderElectionMetrics } from '../leader-election/index.js';
import { METRICS, REQUEST_BUCKETS } from './metric-names.js';

/** Election metrics: client-go's `leader_election_master_status`, and attempts and transitions of our own. */
export function createLeaderElectionMetrics(meter: Meter, lease: string): LeaderElectionMetrics {
  let leads = false;
  meter
    .createObservableGauge(METRICS.leaderStatus, { description: 'Whether this replica leads: 1 or 0' })
    .addCallback((result) => result.observe(leads ? 1 : 0, { name: lease }));
  const attempts = meter.createHistogram(METRICS.leaderAttemptDuration, {
    description: 'Seconds until an attempt to acquire or renew the lease was answered, by result',
    advice: { explicitBucketBoundaries: REQUEST_BUCKETS },
  });
  const transitions = meter.createCounter(METRICS.leaderTransitions, {
    description: 'Changes of the leader or of its epoch that this replica has seen',
  });
  const depositions = meter.createCounter(METRICS.leaderDepositions, {
    description: 'Leases that this replica took before they had run out, because their holder was gone',
  });
  for (const counter of [transitions, depositions]) counter.add(0, { name: lease });
  return {
    leading: (isLeading) => void (leads = isLeading),
    attempt: (result, durationMs) => attempts.record(durationMs / 1000, { name: lease, result }),
    transition: () => transitions.add(1, { name: lease }),
    deposed: () => depositions.add(1, { name: lease }),
  };
}
