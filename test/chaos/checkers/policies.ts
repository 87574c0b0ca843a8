import type { Deployment, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import type { StoreReplay } from './store-replay.js';
import { ownerOf } from './store-replay.js';
import type { Violation } from './violation.js';

const P = 'rollkeeper.dev/';
const REVISION = 'deployment.kubernetes.io/revision';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';

/**
 * (g) Of Deployments under policies: a version that is in its steps is written no larger than the step that it has reached, a step
 * that waits for an approval is passed by one alone, and what has failed is given no more pods while a good version is left. Call
 * before the change is applied to the replay.
 */
export class PoliciesChecker {
  checks = 0;

  constructor(private readonly replay: StoreReplay) {}

  check(event: HistoryEvent): Violation[] {
    if (event.kind !== 'ReplicaSet' || event.deleted) return [];
    const written = event.object as ReplicaSet;
    const deployment = this.replay.deployments.get(ownerOf(written) ?? '');
    if (!deployment || !hasPolicies(deployment) || deployment.spec.paused) return [];
    this.checks += 1;
    const before = this.replay.replicaSets.get(written.metadata.uid ?? '');
    const grows = (written.spec.replicas ?? 1) > (before?.spec.replicas ?? 0);
    const problems = grows ? [this.stepsOf(deployment, written), this.failureOf(deployment, written)] : [];
    const subject = deployment.metadata.name;
    return problems.flatMap((problem) =>
      problem === undefined
        ? []
        : [{ check: 'policies', subject, problem: `${problem} (revision ${event.resourceVersion})` }],
    );
  }

  private stepsOf({ metadata }: Deployment, { metadata: set, spec }: ReplicaSet): string | undefined {
    const steps = metadata.annotations?.[`${P}steps`]?.split(';').map((step) => step.trim());
    const text = set.annotations?.[`${P}step`];
    if (!steps || text === undefined || set.annotations?.[`${P}good-since`]) return undefined;
    const { approvals = [], done, revision } = JSON.parse(text) as Position;
    if (revision !== set.annotations?.[REVISION] || done >= steps.length) return undefined;
    const size = spec.replicas ?? 1;
    const cap = capAt(steps, done, Number(set.annotations?.[DESIRED] ?? 0));
    if (size > cap) return `${set.name} has ${size} pods at step ${done + 1}, which allows ${cap}`;
    const passed = steps.slice(0, done).filter((step) => step === 'approve').length;
    return approvals.length < passed
      ? `${set.name} passed ${passed} approvals with ${approvals.length}`
      : undefined;
  }

  private failureOf({ metadata }: Deployment, { metadata: set }: ReplicaSet): string | undefined {
    const text = metadata.annotations?.[`${P}failed`];
    if (text === undefined || metadata.annotations?.[`${P}retry`]) return undefined;
    const failures = JSON.parse(text) as { replicaSet: string; stopped?: true }[];
    const failed = failures.filter(({ stopped }) => !stopped).map(({ replicaSet }) => replicaSet);
    const isGoodLeft = this.replay
      .replicaSetsOf(metadata.uid ?? '')
      .some(
        (other) => other.metadata.annotations?.[`${P}good-since`] && !failed.includes(other.metadata.name),
      );
    return failed.includes(set.name) && isGoodLeft ? `${set.name} has failed, and grows` : undefined;
  }
}

interface Position {
  readonly revision: string;
  readonly done: number;
  readonly approvals?: readonly unknown[];
}

function hasPolicies({ metadata }: Deployment): boolean {
  return ['steps', 'on-failure'].some((name) => metadata.annotations?.[P + name] !== undefined);
}

/** The size of the step that it is at, or of the last one before. */
function capAt(steps: readonly string[], done: number, replicas: number): number {
  const size = steps.slice(0, done + 1).findLast((step) => /^\d+%?$/.test(step));
  if (size === undefined) return 0;
  return size.endsWith('%')
    ? Math.ceil((Number.parseInt(size, 10) * replicas) / 100)
    : Math.min(Number(size), replicas);
}
