import type { ExperimentVerdict, LastMeasured } from '@rollkeeper/controllers/deployment';
import {
  EXPERIMENT_SIDE,
  lastMeasured,
  readCheckResults,
  readExperimentState,
  readPlan,
} from '@rollkeeper/controllers/deployment';
import { renderDuration } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { controllerOf } from '@rollkeeper/machinery/kubernetes';
import { counted } from '@rollkeeper/machinery/text';
import { renderTable } from '../../terminal/index.js';

/** How far an experiment is: `starting` until all of its pods are available, then `running`, then its verdict. */
export type ExperimentPhase = 'starting' | 'running' | ExperimentVerdict;

/** A check of an experiment, with its last measurement. */
export interface ExperimentCheck extends LastMeasured {
  readonly check: string;
  /** The template that is judged, and the one beside it. */
  readonly of: string;
  readonly against?: string;
}

/** A template of an experiment. */
export interface ExperimentTemplate {
  readonly template: string;
  readonly replicaSet: string;
  readonly pods: number;
  readonly available: number;
  readonly deployment?: string;
  readonly revision?: string;
}

/** An experiment outside of rollouts. Times are RFC 3339. */
export interface ExperimentReport {
  readonly experiment: string;
  readonly namespace: string;
  readonly phase: ExperimentPhase;
  /** Why it did not pass. */
  readonly why?: string;
  readonly created?: string;
  readonly began?: string;
  readonly until?: string;
  readonly ended?: string;
  /** From the time at which all pods were available to its end, milliseconds. */
  readonly tookMs?: number;
  readonly templates: readonly ExperimentTemplate[];
  readonly checks: readonly ExperimentCheck[];
}

/** An experiment from the ReplicaSet that keeps it, and those of its pods. */
export function reportExperiment(
  keeper: DeepReadonly<ReplicaSet>,
  replicaSets: readonly DeepReadonly<ReplicaSet>[],
): ExperimentReport {
  const { creationTimestamp: created, name, namespace = '' } = keeper.metadata;
  const state = readExperimentState(keeper);
  const plan = readPlan(keeper);
  const runs = readCheckResults(keeper);
  const members = replicaSets.filter((set) => controllerOf(set)?.uid === keeper.metadata.uid);
  const tookMs = Date.parse(state.ended ?? '') - Date.parse(state.began ?? '');
  return {
    ...{ experiment: name, namespace },
    phase: state.verdict ?? (state.began === undefined ? 'starting' : 'running'),
    ...(state.why !== undefined && { why: state.why }),
    ...(created !== undefined && { created }),
    ...(state.began !== undefined && { began: state.began }),
    ...(state.until !== undefined && { until: state.until }),
    ...(state.ended !== undefined && { ended: state.ended }),
    ...(Number.isFinite(tookMs) && { tookMs }),
    templates: (plan?.templates ?? []).map(
      ({ deployment, name: template, replicaSet, replicas, revision }) => {
        const found = members.find((set) => set.metadata.labels?.[EXPERIMENT_SIDE] === template);
        const available = Number(found?.status?.availableReplicas ?? 0);
        return {
          ...{ template, replicaSet, available, pods: replicas },
          ...(deployment !== undefined && { deployment }),
          ...(revision !== undefined && { revision }),
        };
      },
    ),
    checks: (plan?.checks ?? []).map(({ against, name: check, of }) => ({
      ...{ check, of, ...(against !== undefined && { against }) },
      ...lastMeasured(runs.find((run) => run.check === check)),
    })),
  };
}

const NONE = '<none>';

/** A table for people. @param withNamespace for those of all namespaces */
export function renderExperiments(reports: readonly ExperimentReport[], withNamespace = false): string {
  const where = (cell: string): readonly string[] => (withNamespace ? [cell] : []);
  return renderTable([
    [...where('NAMESPACE'), 'EXPERIMENT', 'STATE', 'STARTED', 'TOOK', 'TEMPLATES', 'CHECKS', 'WHY'],
    ...reports.map((report) => [
      ...where(report.namespace),
      report.experiment,
      report.phase,
      report.began ?? NONE,
      report.tookMs === undefined ? NONE : renderDuration(report.tookMs),
      report.templates.map(({ pods, template }) => `${template} ${pods}`).join(', '),
      report.checks.map(renderNumbers).join(', ') || NONE,
      report.why ?? NONE,
    ]),
  ]);
}

/** A check with its verdict and its last value. */
export function renderNumbers({
  check,
  value,
  verdict,
}: Pick<ExperimentCheck, 'check' | 'value' | 'verdict'>): string {
  return `${check} ${verdict}${value === undefined ? '' : ` (${value})`}`;
}

/** One experiment, a line for each thing that is known of it. */
export function renderExperiment(report: ExperimentReport): string {
  const { began, checks, created, ended, experiment, namespace, templates, until } = report;
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['Experiment', `${namespace}/${experiment}`],
    ['State', stateOf(report)],
    ['Created', created],
    ['Began', began],
    [ended === undefined ? 'Until' : 'Ended', ended ?? until],
    ...templates.map((template) => ['Template', templateOf(template, ended !== undefined)] as const),
    ...checks.map((check) => ['Check', checkOf(check)] as const),
  ];
  return lines
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${`${name}:`.padEnd(12)}${value ?? ''}`)
    .join('\n');
}

/** The state in one sentence, as `run` prints it at each change. */
export function stateOf({ phase, templates, tookMs, until, why }: ExperimentReport): string {
  if (phase === 'running') return `running until ${until ?? NONE}`;
  if (phase === 'starting')
    return `waits for its pods (${templates.map(({ available, pods, template }) => `${template} ${available} of ${pods}`).join(', ')})`;
  const took = tookMs === undefined ? '' : ` after ${renderDuration(tookMs)}`;
  return `${phase}${took}${why === undefined ? '' : `: ${why}`}`;
}

function templateOf(
  { available, deployment, pods, revision, template }: ExperimentTemplate,
  isOver: boolean,
): string {
  const size = isOver ? counted(pods, 'pod') : `${available} of ${counted(pods, 'pod')} available`;
  const from = deployment === undefined ? '' : ` of Deployment ${deployment}`;
  return `${template}: ${size}${from}${revision === undefined ? '' : `, revision ${revision}`}`;
}

function checkOf({ against, measurements, of, value, why, ...check }: ExperimentCheck): string {
  const beside = against === undefined ? '' : ` beside ${against}`;
  const last = value === undefined ? '' : `, last ${value}`;
  return `${check.check} of ${of}${beside}: ${check.verdict}, measured ${counted(measurements, 'time')}${last}${why === undefined ? '' : `: ${why}`}`;
}
