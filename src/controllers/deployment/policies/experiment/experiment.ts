import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { counted } from '@rollkeeper/machinery/text';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { CheckOutcome } from '../checks/check-needs.js';
import type { Experiment } from '../common/experiment.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Pass, Policy } from '../common/pass.js';
import { normal, tellEvent } from '../common/tell.js';
import { noteExperiments } from './experiment-notes.js';
import { experimentSets, sideName, sidesOf, untilOf } from './experiment-sets.js';

/** The ReplicaSets of experiments that there are. */
export interface ExperimentSurroundings {
  /** @default not known: pods of an experiment count as available at once, and none is made or removed */
  readonly experiments?: readonly DeepReadonly<ReplicaSet>[];
  /** Whether the status says of them what is not known here. @default false */
  readonly repeatsTold?: boolean;
}

/** An experiment, and where it is. */
export interface AtStep {
  readonly experiment: Experiment;
  /** Counted from 1. */
  readonly step: number;
}

/**
 * The ReplicaSets of the experiment at whose step the rollout is exist, and no others: the end of a step, for any reason, ends its
 * experiment, on any replica. A paused Deployment keeps those that it has until their time is over.
 */
export const EXPERIMENTS: Policy<Pass & ExperimentSurroundings & { readonly outcome: CheckOutcome }> = {
  concerns: ({ experiments = [] }) => experiments.length > 0,
  conclude: (pass) => {
    const { draft, experiments, isDeleted, outcome, writes } = pass;
    // The garbage collector takes those of a Deployment that is deleted.
    if (isDeleted || !experiments) return;
    const latest = latestOf(draft, draft.living);
    const wanted = outcome.experiment && latest ? experimentSets(draft, latest, outcome.experiment) : [];
    const names = new Set(wanted.map(({ metadata }) => metadata.name));
    const existing = new Set(experiments.map(({ metadata }) => metadata.name));
    noteExperiments(draft, {
      ...{ latest, runs: wanted.length > 0 ? outcome.experiment : undefined },
      isStuck: outcome.checkProblem?.kind === 'impossible',
      stays: experiments.some((each) => !names.has(each.metadata.name) && staysPaused(pass, each)),
    });
    const made = wanted.filter(({ metadata }) => !existing.has(metadata.name));
    const over = experiments.filter((each) => !names.has(each.metadata.name) && !staysPaused(pass, each));
    const removed = over.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    writes.experiments.push(
      ...removed.map((object) => ({ verb: 'delete', object }) as const),
      ...made.map((object) => ({ verb: 'create', object }) as const),
    );
    if (made.length > 0)
      tellEvent(draft, outcome, normal('ExperimentStarted', `Made ${listOf(made)} for an experiment`));
    if (removed.length > 0)
      tellEvent(draft, outcome, normal('ExperimentEnded', `Removed ${listOf(removed)} of an experiment`));
  },
};

function staysPaused({ draft, outcome }: Pass, replicaSet: DeepReadonly<ReplicaSet>): boolean {
  const leftMs = untilOf(replicaSet) - draft.nowMs;
  if (!draft.spec.paused || leftMs <= 0) return false;
  lookAgainAfter(outcome, leftMs);
  return true;
}

function listOf(replicaSets: readonly DeepReadonly<ReplicaSet>[]): string {
  return replicaSets
    .map(({ metadata, spec }) => `ReplicaSet ${metadata.name} with ${counted(spec.replicas ?? 1, 'pod')}`)
    .join(' and ');
}

/** The pods of an experiment that are not available yet, for people; undefined if all of them are. */
export function missingPods(
  draft: RolloutDraft,
  latest: ReplicaSetDraft | undefined,
  experiments: ExperimentSurroundings['experiments'],
  { experiment, step }: AtStep,
): string | undefined {
  if (!experiments) return undefined;
  const sides = sidesOf(experiment).map(({ replicas, side }) => {
    const name = latest && sideName(draft, latest, step, side).replicaSet;
    const found = experiments.find(({ metadata }) => metadata.name === name);
    const available = found?.metadata.deletionTimestamp === undefined ? found?.status?.availableReplicas : 0;
    return { side, replicas, available: Math.min(available ?? 0, replicas) };
  });
  if (sides.every(({ available, replicas }) => available >= replicas)) return undefined;
  return sides.map(({ available, replicas, side }) => `${side} ${available} of ${replicas}`).join(', ');
}
