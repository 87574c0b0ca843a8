import type { ExperimentVerdict, LastMeasured } from '@rollkeeper/controllers/deployment';
import {
  keepsExperiment,
  lastMeasured,
  readCheckResults,
  readExperimentNotes,
  readPlan,
} from '@rollkeeper/controllers/deployment';
import { renderDuration } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isControlledBy } from '@rollkeeper/machinery/kubernetes';
import { renderNumbers, reportExperiment } from '../experiments/index.js';
import { renderTable } from '../../terminal/index.js';

/** An experiment in the history of a Deployment: of a step, or outside of a rollout. Times are RFC 3339. */
export interface PastExperiment {
  /** `step 2`, or the name of one outside of a rollout. */
  readonly experiment: string;
  /** The revisions that took part. */
  readonly revisions: readonly string[];
  readonly at: string;
  readonly ended?: string;
  readonly verdict: ExperimentVerdict | 'under way';
  readonly why?: string;
  /** From the time at which all pods were available to its end, milliseconds. */
  readonly tookMs?: number;
  /** The number of pods of each version. */
  readonly pods: Readonly<Record<string, number>>;
  /** The checks with their last values. */
  readonly checks: readonly (LastMeasured & { readonly check: string })[];
}

/** The experiments that are remembered, oldest first. @param replicaSets those of its namespace */
export function pastExperiments(
  deployment: DeepReadonly<Deployment>,
  replicaSets: readonly DeepReadonly<ReplicaSet>[],
): readonly PastExperiment[] {
  const own = replicaSets.filter((set) => isControlledBy(set, deployment));
  const keepers = replicaSets.filter(keepsExperiment);
  const all = [
    ...own.flatMap(ofSteps),
    ...keepers.flatMap((keeper) => outsideOfRollouts(keeper, deployment.metadata.name)),
  ];
  return all.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function ofSteps(replicaSet: DeepReadonly<ReplicaSet>): readonly PastExperiment[] {
  const runs = readCheckResults(replicaSet);
  return readExperimentNotes(replicaSet.metadata.annotations).map((note) => {
    const { at, began, checks, ended, pods, revision, step, verdict, why } = note;
    return {
      ...{ experiment: `step ${step}`, revisions: [revision], at, pods },
      verdict: verdict ?? (ended === undefined ? 'under way' : 'inconclusive'),
      ...(ended !== undefined && { ended }),
      ...(why !== undefined && { why }),
      ...tookFrom(began, ended),
      checks: checks.map((check) => ({
        check,
        ...lastMeasured(runs.find((run) => run.check === check && run.step === step)),
      })),
    };
  });
}

function outsideOfRollouts(keeper: DeepReadonly<ReplicaSet>, name: string): readonly PastExperiment[] {
  const used = readPlan(keeper)?.templates.filter(({ deployment }) => deployment === name) ?? [];
  const { began, checks, created, ended, experiment, phase, templates, why } = reportExperiment(keeper, []);
  if (used.length === 0 || created === undefined) return [];
  return [
    {
      ...{ experiment, at: created, checks },
      revisions: [...new Set(used.flatMap(({ revision }) => revision ?? []))],
      verdict: phase === 'starting' || phase === 'running' ? 'under way' : phase,
      ...(ended !== undefined && { ended }),
      ...(why !== undefined && { why }),
      ...tookFrom(began, ended),
      pods: Object.fromEntries(templates.map(({ pods, template }) => [template, pods])),
    },
  ];
}

function tookFrom(began: string | undefined, ended: string | undefined): { readonly tookMs?: number } {
  const tookMs = Date.parse(ended ?? '') - Date.parse(began ?? '');
  return Number.isFinite(tookMs) ? { tookMs } : {};
}

const NONE = '<none>';

/** A table for people, oldest first. */
export function renderPastExperiments(experiments: readonly PastExperiment[]): string {
  return renderTable([
    ['EXPERIMENT', 'REVISION', 'STARTED', 'VERDICT', 'TOOK', 'PODS', 'CHECKS', 'WHY'],
    ...experiments.map(({ at, checks, experiment, pods, revisions, tookMs, verdict, why }) => [
      experiment,
      revisions.join(', ') || NONE,
      at,
      verdict,
      tookMs === undefined ? NONE : renderDuration(tookMs),
      Object.entries(pods)
        .map(([side, count]) => `${side} ${count}`)
        .join(', '),
      checks.map(renderNumbers).join(', ') || NONE,
      why ?? NONE,
    ]),
  ]);
}
