import type { Deployment, KubernetesObject, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import { MAX_ROLLOUTS } from '../policy-world.js';
import type { StoreReplay } from './store-replay.js';
import { ownerOf } from './store-replay.js';
import type { Violation } from './violation.js';

const P = 'rollkeeper.dev/';
const REVISION = 'deployment.kubernetes.io/revision';
const DESIRED = 'deployment.kubernetes.io/desired-replicas';

/**
 * (g) Of Deployments under policies: a version that is in its steps is written no larger than the step that it has reached, a step
 * that waits for an approval is passed by one alone, and what has failed is given no more pods while a good version is left. Call
 * before the change is applied to the replay. Of the others: no more Deployments roll out at once than may, and no ReplicaSet with pods is
 * given another template unless only cpu and memory differ.
 */
export class PoliciesChecker {
  checks = 0;
  /** Deployments whose turn the queue has not given, or has given away again. */
  private readonly unqueued = new Set<string>();
  /** By Deployment, the generation since which its steps are what they are. */
  private readonly stepsSince = new Map<string, number>();

  constructor(private readonly replay: StoreReplay) {}

  check(event: HistoryEvent): Violation[] {
    if (event.kind === 'Deployment' && !event.deleted) {
      this.noteSteps(event.object as Deployment);
      return this.turnsOf(event);
    }
    if (event.kind !== 'ReplicaSet' || event.deleted) return [];
    const written = event.object as ReplicaSet;
    const deployment = this.replay.deployments.get(ownerOf(written) ?? '');
    if (!deployment || !hasPolicies(deployment) || deployment.spec.paused) return [];
    this.checks += 1;
    const before = this.replay.replicaSets.get(written.metadata.uid ?? '');
    const grows = (written.spec.replicas ?? 1) > (before?.spec.replicas ?? 0);
    const growth = grows ? [this.stepsOf(deployment, written), this.failureOf(deployment, written)] : [];
    const problems = [...growth, before && templateOf(before, written)];
    const subject = deployment.metadata.name;
    return problems.flatMap((problem) =>
      problem === undefined
        ? []
        : [{ check: 'policies', subject, problem: `${problem} (revision ${event.resourceVersion})` }],
    );
  }

  private noteSteps(deployment: Deployment): void {
    const { generation = 0, uid = '' } = deployment.metadata;
    const before = this.replay.deployments.get(uid);
    if (stepsIn(before) !== stepsIn(deployment)) this.stepsSince.set(uid, generation);
  }

  private turnsOf({ object, resourceVersion }: HistoryEvent): Violation[] {
    const deployment = object as Deployment;
    const { metadata } = deployment;
    const { uid = '' } = metadata;
    if (!isGranted(deployment)) {
      this.unqueued.delete(uid);
      return [];
    }
    // A way back waits for nothing, and what is paused holds no turn; it goes on when it is resumed.
    if (deployment.spec.paused || this.goesBack(deployment)) this.unqueued.add(uid);
    if (this.unqueued.has(uid) || isGranted(this.replay.deployments.get(uid))) return [];
    this.checks += 1;
    const others = [...this.replay.deployments.values()].filter((other) => {
      const { uid: id = '' } = other.metadata;
      return id !== uid && isGranted(other) && !this.unqueued.has(id);
    });
    if (others.length < MAX_ROLLOUTS) return [];
    const problem = `rolls out beside ${others.length} others (revision ${resourceVersion})`;
    return [{ check: 'policies', subject: metadata.name, problem }];
  }

  /** Whether there is a ReplicaSet of what it asks for. */
  private goesBack({ metadata, spec }: Deployment): boolean {
    return this.replay.replicaSetsOf(metadata.uid ?? '').some((set) => isOfTemplate({ spec }, set.spec));
  }

  private stepsOf(deployment: Deployment, { metadata: set, spec }: ReplicaSet): string | undefined {
    // Decided, maybe, when it had other steps: a cache may lag.
    const since = this.stepsSince.get(deployment.metadata.uid ?? '') ?? 0;
    if ((deployment.status?.observedGeneration ?? 0) < since) return undefined;
    const steps = stepsIn(deployment)
      ?.split(';')
      .map((step) => step.trim());
    const text = set.annotations?.[`${P}step`];
    if (!steps || text === undefined || set.annotations?.[`${P}good-since`]) return undefined;
    const { approvals = [], done, revision } = JSON.parse(text) as Position;
    if (revision !== set.annotations?.[REVISION] || done >= steps.length) return undefined;
    // The note of an older version, after a way back for example: it gets the pods that the steps of the newest leave.
    if (Number(revision) < this.newestRevision(deployment)) return undefined;
    // Another version is wanted by now, and may not have its revision yet: this one gets the pods that the steps of that one leave.
    if (!isOfTemplate(deployment, spec)) return undefined;
    // A revision that replaces none takes no steps.
    if (!this.replay.replicaSetsOf(deployment.metadata.uid ?? '').some((other) => hasPods(other, set.uid)))
      return undefined;
    const size = spec.replicas ?? 1;
    const cap = capAt(steps, done, Number(set.annotations?.[DESIRED] ?? 0));
    if (size > cap) return `${set.name} has ${size} pods at step ${done + 1}, which allows ${cap}`;
    const passed = steps.slice(0, done).filter((step) => step === 'approve').length;
    return approvals.length < passed
      ? `${set.name} passed ${passed} approvals with ${approvals.length}`
      : undefined;
  }

  private newestRevision({ metadata }: Deployment): number {
    const sets = this.replay.replicaSetsOf(metadata.uid ?? '');
    return Math.max(0, ...sets.map(({ metadata: set }) => Number(set.annotations?.[REVISION] ?? 0)));
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

export function isOfTemplate({ spec }: Pick<Deployment, 'spec'>, { template }: ReplicaSet['spec']): boolean {
  const wanted: Pick<ReplicaSet['spec'], 'template'> = spec;
  return JSON.stringify(template?.spec) === JSON.stringify(wanted.template?.spec);
}

function hasPods({ metadata, spec }: ReplicaSet, otherThan: string | undefined): boolean {
  return metadata.uid !== otherThan && (spec.replicas ?? 1) > 0;
}

function stepsIn(deployment: Deployment | undefined): string | undefined {
  return deployment?.metadata.annotations?.[`${P}steps`];
}

/** A turn that is given, and not yet given back. */
function isGranted(object: KubernetesObject | undefined): boolean {
  const { annotations, deletionTimestamp } = object?.metadata ?? {};
  const text = annotations?.[`${P}turn`];
  if (text === undefined || deletionTimestamp) return false;
  return (JSON.parse(text) as { granted?: string }).granted !== undefined;
}

/** A resize in place is the only change of a template. */
function templateOf(before: ReplicaSet, written: ReplicaSet): string | undefined {
  const [one, other] = [before, written].map(({ spec }) => JSON.stringify(withoutAmounts(spec.template)));
  return one === other ? undefined : `the template of ${written.metadata.name} is another one`;
}

function withoutAmounts(template: ReplicaSet['spec']['template']): unknown {
  const containers = template?.spec?.containers.map(({ resources: _resources, ...others }) => others);
  return { ...template, spec: { ...template?.spec, containers } };
}

interface Position {
  readonly revision: string;
  readonly done: number;
  readonly approvals?: readonly unknown[];
}

function hasPolicies({ metadata }: Deployment): boolean {
  return ['steps', 'on-failure', 'resize'].some((name) => metadata.annotations?.[P + name] !== undefined);
}

/**
 * The size of the step that it is at, or of the last one before; where none has a size, its greatest share of the requests in pods, and
 * one for a header or a cookie alone.
 */
function capAt(steps: readonly string[], done: number, replicas: number): number {
  const until = steps.slice(0, done + 1);
  const size = until.findLast((step) => /^\d+%?$/.test(step));
  if (size?.endsWith('%')) return Math.ceil((Number.parseInt(size, 10) * replicas) / 100);
  if (size !== undefined) return Math.min(Number(size), replicas);
  const percents = ['weight', 'mirror'].map((word) =>
    Number.parseInt(until.findLast((step) => step.startsWith(`${word} `))?.slice(word.length) ?? '0', 10),
  );
  const isMatched = until.some((step) => /^(?:header|cookie) /.test(step));
  return Math.max(Math.ceil((Math.max(...percents) * replicas) / 100), isMatched ? Math.min(1, replicas) : 0);
}
