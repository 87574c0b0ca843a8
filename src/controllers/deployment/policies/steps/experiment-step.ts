import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { parseTimeMs } from '../../../shared/index.js';
import type { Gate } from '../checks/gate.js';
import type { Experiment, ExperimentAt } from '../common/experiment.js';
import { PATIENCE_MS, askedMs, isTooLate } from '../common/experiment.js';
import type { Problem } from '../common/tell.js';

/** The parts of an experiment that it waits for, for people. */
export interface MissingParts {
  /** @default all of its pods are available */
  readonly pods?: string | undefined;
  /** @default all of its Services exist, or it has none */
  readonly services?: string | undefined;
  /** Whether the status says which parts are missing. @default they are said here */
  readonly isTold?: true;
}

/** The pods and Services of experiments, as steps ask for them. */
export interface StepExperiments {
  /** Why it must not begin yet, if its Services are the reason. Without a problem they are not known yet. */
  hold(experiment: Experiment, step: number): { readonly problem?: Problem } | undefined;
  /** The parts that are not there yet; undefined if all of them are. */
  missing(experiment: Experiment, step: number): MissingParts | undefined;
}

/** The effect of an experiment on a pass, beside its ReplicaSets. */
export interface ExperimentOutcome {
  /** Why the experiment at whose step the rollout is cannot begin. @default nothing keeps it from beginning */
  experimentProblem?: Problem;
}

/** The wait for an experiment. Without a time its pods are not all available yet. */
export interface ExperimentWait {
  readonly for: 'experiment';
  /** The experiment, as long as it has its ReplicaSets. */
  readonly runs?: ExperimentAt;
  /** When its time is over, epoch milliseconds. */
  readonly untilMs?: number;
  /** The parts that it waits for. */
  readonly missing?: MissingParts;
  /** Whether its pods have not been asked for yet, because of its Services. @default they have */
  readonly isHeld?: true;
  /** Why that does not end by itself: a Service cannot be made. */
  readonly problem?: Problem;
}

/** The position of a rollout, as far as an experiment is concerned. */
interface Position {
  readonly done: number;
  readonly since: string;
  readonly from?: string;
  readonly until?: string;
}

interface At {
  readonly nowMs: number;
  readonly gates: { at(check: string, step: number): Gate } | undefined;
  readonly experiments: StepExperiments | undefined;
}

/**
 * The position, with the end of the experiment once all of its pods are available: its time begins then, once. Of one with Services, it
 * notes when its pods were asked for, since what keeps a Service from being made must not use up the time that the pods have.
 */
export function withExperimentEnd<P extends Position>(
  step: Experiment,
  position: P,
  { experiments, nowMs }: Omit<At, 'gates'>,
): P {
  if (position.until !== undefined || holdOf(step, position, experiments)) return position;
  const isAsked = !step.hasServices || position.from !== undefined;
  const asked = isAsked ? position : { ...position, from: toRfc3339(nowMs) };
  if (isTooLate(asked, nowMs) || experiments?.missing(step, position.done + 1)) return asked;
  return { ...asked, until: toRfc3339(nowMs + step.ms) };
}

/** One that has asked for its pods is not held any more: it waits for its Services as for its pods. */
function holdOf(step: Experiment, position: Position, experiments: StepExperiments | undefined) {
  if (!step.hasServices || position.from !== undefined) return undefined;
  return experiments?.hold(step, position.done + 1);
}

/** An experiment lasts for its whole time, unless one of its checks fails. Its checks have to pass. */
export function waitOfExperiment(
  experiment: Experiment,
  position: Position,
  { experiments, gates, nowMs }: At,
): ExperimentWait | { readonly for: 'check'; readonly gate: Gate } | undefined {
  const step = position.done + 1;
  const untilMs = parseTimeMs(position.until);
  if (untilMs === undefined) {
    const missing = experiments?.missing(experiment, step) ?? { pods: 'unknown' };
    const hold = holdOf(experiment, position, experiments);
    if (hold) return { for: 'experiment', missing, isHeld: true, ...hold };
    if (isTooLate(position, nowMs)) return { for: 'experiment', missing };
    const lastMs = askedMs(position) + PATIENCE_MS + experiment.ms;
    return { for: 'experiment', missing, runs: { experiment, step, untilMs: lastMs } };
  }
  const asked = experiment.checks.flatMap((check) => gates?.at(check, step) ?? []);
  const bad = asked.find(({ status }) => status === 'failed' || status === 'impossible');
  if (bad) return { for: 'check', gate: bad };
  if (nowMs < untilMs) {
    const lastMs = askedMs(position) + PATIENCE_MS + experiment.ms;
    return { for: 'experiment', untilMs, runs: { experiment, step, untilMs: lastMs } };
  }
  const open: Gate | undefined = asked.find(({ status }) => status !== 'passed');
  return open && { for: 'check', gate: open };
}
