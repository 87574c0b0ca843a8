import { compileLabelSelector } from '../../../src/machinery/kubernetes/index.js';
import type { Deployment, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import type { StoreReplay } from './store-replay.js';
import type { Violation } from './violation.js';

const P = 'rollkeeper.dev/';
const REVISION = 'deployment.kubernetes.io/revision';
const [EXPERIMENT, SIDE] = [`${P}experiment`, `${P}experiment-side`];

/** One version of an experiment, as a step asks for it. */
interface Asked {
  readonly side: string;
  readonly replicas: number;
}

/**
 * (i) Of experiments in steps: a ReplicaSet is made of each version that the step of the rollout asks for, with as many pods, once; the
 * Deployment does not control it, and its pods are none of the Deployment's. That none is left at rest is a rule of `unrestOf`. Call
 * before the change is applied to the replay.
 */
export class ExperimentsChecker {
  checks = 0;
  /** By Deployment, the generation since which its steps are what they are. */
  private readonly stepsSince = new Map<string, number>();
  /** By the owner's UID. */
  private readonly running = new Map<string, Map<string, ReplicaSet>>();

  constructor(private readonly replay: StoreReplay) {}

  check(event: HistoryEvent): Violation[] {
    const { deleted, kind, object, resourceVersion } = event;
    if (kind === 'Deployment' && !deleted) this.noteSteps(object as Deployment);
    if (kind !== 'ReplicaSet' || object.metadata.labels?.[EXPERIMENT] === undefined) return [];
    const replicaSet = object as ReplicaSet;
    const owner = replicaSet.metadata.ownerReferences?.find((each) => each.kind === 'Deployment');
    const others = this.running.get(owner?.uid ?? '') ?? new Map<string, ReplicaSet>();
    this.running.set(owner?.uid ?? '', others);
    const { name, uid = '' } = replicaSet.metadata;
    const isNew = !deleted && !others.has(uid);
    const problems = isNew ? this.problemsOf(replicaSet, [...others.values()]) : [];
    if (deleted) others.delete(uid);
    else others.set(uid, replicaSet);
    return problems.map((problem) => ({
      ...{ check: 'experiments', subject: name, problem: `${problem} (revision ${resourceVersion})` },
    }));
  }

  private problemsOf(made: ReplicaSet, others: readonly ReplicaSet[]): string[] {
    this.checks += 1;
    const { labels = {}, ownerReferences = [] } = made.metadata;
    const side = labels[SIDE] ?? '';
    const deployment = this.replay.deployments.get(ownerReferences[0]?.uid ?? '');
    const isSecond = others.some(
      ({ metadata }) => metadata.labels?.[SIDE] === side && metadata.deletionTimestamp === undefined,
    );
    const isControlled = ownerReferences.some(({ controller }) => controller === true);
    return [
      ...(isControlled ? ['the Deployment controls the ReplicaSet of an experiment'] : []),
      ...(isSecond ? [`there is another ReplicaSet of the version ${side}`] : []),
      ...(deployment ? this.stepProblems(deployment, made, side) : []),
    ];
  }

  private stepProblems(deployment: Deployment, made: ReplicaSet, side: string): string[] {
    const { metadata, spec, status } = deployment;
    const pods = { labels: made.spec.template?.metadata?.labels };
    const isSelected = compileLabelSelector(spec.selector)(pods.labels);
    // Decided, maybe, when it had other steps: a cache may lag.
    const isKnown = (status?.observedGeneration ?? 0) >= (this.stepsSince.get(metadata.uid ?? '') ?? 0);
    const asked = this.askedBy(deployment).filter((each) => each.side === side);
    const { replicas } = made.spec;
    return [
      ...(isSelected ? ['its pods are selected by the Deployment'] : []),
      ...(isKnown && !asked.some((each) => each.replicas === replicas)
        ? [`no version is at a step that asks for ${replicas} pods of ${side}`]
        : []),
    ];
  }

  /** The versions that the steps ask for at which the ReplicaSets of a Deployment are. One that has no position is at its first. */
  private askedBy({ metadata }: Deployment): readonly Asked[] {
    const steps = metadata.annotations?.[`${P}steps`]?.split(';') ?? [];
    const sets = this.replay.replicaSetsOf(metadata.uid ?? '');
    return sets.flatMap(({ metadata: { annotations = {} } }) => {
      const position = JSON.parse(annotations[`${P}step`] ?? '{}') as { revision?: string; done?: number };
      const done = position.revision === annotations[REVISION] ? (position.done ?? 0) : 0;
      return sidesAskedBy(steps[done] ?? '');
    });
  }

  private noteSteps(deployment: Deployment): void {
    const { generation = 0, uid = '' } = deployment.metadata;
    const stepsOf = (each: Deployment | undefined): string | undefined =>
      each?.metadata.annotations?.[`${P}steps`];
    if (stepsOf(this.replay.deployments.get(uid)) !== stepsOf(deployment))
      this.stepsSince.set(uid, generation);
  }
}

/** `experiment 2s: baseline 1, canary 2` */
function sidesAskedBy(step: string): readonly Asked[] {
  const [head = '', sides = ''] = step.split(':');
  if (!head.trim().startsWith('experiment ')) return [];
  return sides.split(',').flatMap((part) => {
    const [word = '', count] = part.trim().split(' ');
    return word === 'baseline' || word === 'canary' ? [{ side: word, replicas: Number(count) }] : [];
  });
}
