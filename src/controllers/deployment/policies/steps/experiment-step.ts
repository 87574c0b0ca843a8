import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { parseTimeMs } from '../../../shared/index.js';
import type { Gate } from '../checks/gate.js';
import type { Experiment, ExperimentAt } from '../common/experiment.js';
import { PATIENCE_MS, isTooLate } from '../common/experiment.js';

/** The pods of experiments, as steps ask for them. */
export interface StepExperiments {
  /** The pods that are not available yet, for people; undefined if all of them are. */
  missing(experiment: Experiment, step: number): string | undefined;
}

/** The wait for an experiment. Without a time its pods are not all available yet. */
export interface ExperimentWait {
  readonly for: 'experiment';
  /** The experiment, as long as it has its ReplicaSets. */
  readonly runs?: ExperimentAt;
  /** When its time is over, epoch milliseconds. */
  readonly untilMs?: number;
  /** The pods that it waits for. */
  readonly missing?: string;
}

/** The position of a rollout, as far as an experiment is concerned. */
interface Position {
  readonly done: number;
  readonly since: string;
  readonly until?: string;
}

interface At {
  readonly nowMs: number;
  readonly gates: { at(check: string, step: number): Gate } | undefined;
  readonly experiments: StepExperiments | undefined;
}

/** The position, with the end of the experiment once all of its pods are available: its time begins then, once. */
export function withExperimentEnd<P extends Position>(
  step: Experiment,
  position: P,
  { experiments, nowMs }: Omit<At, 'gates'>,
): P {
  if (position.until !== undefined || isTooLate(position, nowMs)) return position;
  if (experiments?.missing(step, position.done + 1) !== undefined) return position;
  return { ...position, until: toRfc3339(nowMs + step.ms) };
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
    const missing = experiments?.missing(experiment, step) ?? 'unknown';
    if (isTooLate(position, nowMs)) return { for: 'experiment', missing };
    const lastMs = (parseTimeMs(position.since) ?? 0) + PATIENCE_MS + experiment.ms;
    return { for: 'experiment', missing, runs: { experiment, step, untilMs: lastMs } };
  }
  const asked = experiment.checks.flatMap((check) => gates?.at(check, step) ?? []);
  const bad = asked.find(({ status }) => status === 'failed' || status === 'impossible');
  if (bad) return { for: 'check', gate: bad };
  if (nowMs < untilMs) {
    const lastMs = (parseTimeMs(position.since) ?? 0) + PATIENCE_MS + experiment.ms;
    return { for: 'experiment', untilMs, runs: { experiment, step, untilMs: lastMs } };
  }
  const open: Gate | undefined = asked.find(({ status }) => status !== 'passed');
  return open && { for: 'check', gate: open };
}
