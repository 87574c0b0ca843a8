import { isPodFinished } from '@rollkeeper/machinery/kubernetes';
import { stuckCause } from '@rollkeeper/controllers/deployment';
import type { ExplainInput } from './explain-input.js';
import type { Finding } from './explanation.js';
import { countOf, named } from './named-pods.js';
import type { RolloutFacts } from './rollout-facts.js';
import { sum } from './rollout-facts.js';

/** The findings about the rollout's own rules. */
export function limitFindings(input: ExplainInput, facts: RolloutFacts): Finding[] {
  return [
    ...deadlineFinding(facts),
    ...terminatingFinding(facts),
    ...rollingFindings(facts),
    ...recreateFinding(input, facts),
  ];
}

/** Says it in the words of the Deployment's own condition. */
function deadlineFinding({ deadline, latest, standing }: RolloutFacts): Finding[] {
  // The same condition reports it, together with what is done about it.
  if (!deadline?.exceeded || standing?.code === 'failed-template') return [];
  const cause = latest && stuckCause(latest.draft, latest.pods);
  const why = cause === undefined ? '' : ` (${cause})`;
  return [
    {
      cause: 'deadline-exceeded',
      severity: 'note',
      summary: `no progress for progressDeadlineSeconds ${deadline.seconds}${why}: the rollout is reported as failed, and continues as soon as it can`,
      unblockedBy: ['resolve the other causes, or roll back with kubectl rollout undo'],
    },
  ];
}

/** Pods that should have been deleted and still exist. */
function terminatingFinding({ replicaSets }: RolloutFacts): Finding[] {
  const pods = replicaSets.flatMap((set) => set.pods.filter(({ state }) => state === 'overdue'));
  const [first] = pods;
  if (!first) return [];
  return [
    {
      cause: 'terminating',
      severity: 'blocked',
      summary: `${countOf(pods)} should have ended (${first.message ?? 'Terminating'})`,
      pods: named(pods),
      unblockedBy: [
        'a node that no longer exists: delete its Node object, or the pod with --force --grace-period=0',
        'a finalizer: the controller that set it must remove it',
      ],
    },
  ];
}

/** Why the controller, with these pods, changes no size now. */
function rollingFindings({ limits, latest, nextWrites, old, replicaSets, rolling }: RolloutFacts): Finding[] {
  if (!rolling || !latest || nextWrites.length > 0) return [];
  const findings: Finding[] = [];
  const asked = sum(replicaSets, ({ size }) => size);
  const missing = Math.max(0, latest.size - latest.available);
  const oldSize = sum(old, ({ size }) => size);
  if (latest.size < limits.replicas && asked >= limits.ceiling) {
    findings.push({
      cause: 'max-surge',
      severity: 'waits',
      summary: `the new ReplicaSet stays at ${latest.size}: ${asked} pods are requested and maxSurge ${limits.maxSurge} allows ${limits.ceiling}`,
      unblockedBy: [
        'a new pod becoming available, so that an old one can be removed',
        'or set a larger maxSurge',
      ],
    });
  }
  if (oldSize > 0 && asked - limits.floor - missing <= 0) {
    findings.push({
      cause: 'max-unavailable',
      severity: 'waits',
      summary: `${oldSize === 1 ? 'the old pod stays' : `the ${oldSize} old pods stay`}: ${limits.floor} must be available (maxUnavailable ${limits.maxUnavailable}), and ${missing === 1 ? '1 new pod is' : `${missing} new ones are`} not available yet`,
      unblockedBy: [
        `${missing === 1 ? 'the new pod' : 'new pods'} becoming available`,
        'or set a larger maxUnavailable',
      ],
    });
  }
  return findings;
}

function recreateFinding({ pods }: ExplainInput, { latest, old, rolling }: RolloutFacts): Finding[] {
  if (rolling || (latest?.size ?? 0) > 0) return [];
  const running = old.flatMap((set) =>
    set.pods.filter(({ state }) => state !== 'finished' && state !== 'rejected'),
  );
  if (running.length === 0 || pods.every((pod) => isPodFinished(pod))) return [];
  return [
    {
      cause: 'recreate-waits',
      severity: 'waits',
      summary: `strategy Recreate: no new pod before ${countOf(running)} of the old version ${running.length === 1 ? 'has' : 'have'} ended`,
      pods: named(running),
      unblockedBy: ['the old pods ending'],
    },
  ];
}
