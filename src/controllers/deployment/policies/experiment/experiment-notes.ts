import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { isCount, isShortText, isTime, parseTimeMs, readJson } from '../../../shared/index.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import { REVISION } from '../../kubernetes/annotations.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { CheckRun } from '../checks/check-results.js';
import { findRun, readResults } from '../checks/check-results.js';
import type { ExperimentAt } from '../common/experiment.js';
import { isTooLate } from '../common/experiment.js';
import { PREFIX } from '../common/names.js';
import type { Position } from '../common/position.js';
import { readPosition } from '../common/position.js';
import { sidesOf } from './experiment-sets.js';

/** On the ReplicaSet of a revision: the experiments of its steps, newest first, as JSON. */
export const EXPERIMENT_NOTES = `${PREFIX}experiments`;

/** The verdicts of experiments. `inconclusive`: a check had no verdict, or a person continued without it. */
export const EXPERIMENT_VERDICTS = ['passed', 'failed', 'inconclusive', 'stopped'] as const;
/** The verdict of an experiment that has ended. */
export type ExperimentVerdict = (typeof EXPERIMENT_VERDICTS)[number];

/** An experiment of a step, for the history. Times are RFC 3339. */
export interface ExperimentNote {
  readonly revision: string;
  /** Counted from 1. */
  readonly step: number;
  /** When its ReplicaSets were made. */
  readonly at: string;
  /** The number of pods of each version. */
  readonly pods: Readonly<Record<string, number>>;
  readonly checks: readonly string[];
  /** When all of its pods were available. @default they never were */
  readonly began?: string;
  /** When its pods were removed. @default it runs */
  readonly ended?: string;
  /** @default not known yet: a check is still open */
  readonly verdict?: ExperimentVerdict;
  /** Why it did not pass, for people. */
  readonly why?: string;
}

/** As many experiments of a ReplicaSet are remembered. */
const MOST_KEPT = 10;
const MOST_PARTS = 20;
/** The longest cause, characters. */
const LONGEST_WHY = 300;

/** The notes on a ReplicaSet, newest first. What cannot be read is no note: another hand wrote it. */
export function readExperimentNotes(annotations: Annotations | undefined): readonly ExperimentNote[] {
  const read = readJson(annotations?.[EXPERIMENT_NOTES]);
  return Array.isArray(read) ? read.slice(0, MOST_KEPT).filter(isNote) : [];
}

interface Noting {
  readonly latest: ReplicaSetDraft | undefined;
  /** The experiment at whose step the rollout is. */
  readonly runs: ExperimentAt | undefined;
  /** Whether one that is not `runs` keeps its pods, because the Deployment is paused. */
  readonly stays: boolean;
  /** Whether a check cannot be measured before a person has changed something. */
  readonly isStuck: boolean;
}

/** Notes the beginning, the time and the end of experiments on the ReplicaSets of their revisions. */
export function noteExperiments(draft: RolloutDraft, { isStuck, latest, runs, stays }: Noting): void {
  for (const set of draft.living) {
    const notes = readExperimentNotes(set.annotations);
    const running = set === latest ? runs : undefined;
    const kept = running ? withRunning(draft, set, notes, running) : notes;
    const isCurrent = (note: ExperimentNote): boolean =>
      running !== undefined && isOf(note, set, running.step) && note.ended === undefined;
    const closed = stays
      ? kept
      : kept.map((note) => (isCurrent(note) || note.verdict ? note : ended(draft, set, note, isStuck)));
    const text = stringifyJson(closed.slice(0, MOST_KEPT));
    if (closed.length > 0 && text !== set.annotations[EXPERIMENT_NOTES])
      draft.annotate(set, { ...set.annotations, [EXPERIMENT_NOTES]: text });
  }
}

function isOf(note: ExperimentNote, set: ReplicaSetDraft, step: number): boolean {
  return note.revision === set.annotations[REVISION] && note.step === step;
}

function withRunning(
  draft: RolloutDraft,
  set: ReplicaSetDraft,
  notes: readonly ExperimentNote[],
  { experiment, step }: ExperimentAt,
): readonly ExperimentNote[] {
  const untilMs = parseTimeMs(readPosition(set.annotations)?.until);
  const began = untilMs === undefined ? {} : { began: toRfc3339(untilMs - experiment.ms) };
  const [newest, ...older] = notes;
  if (newest && isOf(newest, set, step) && newest.ended === undefined)
    return newest.began === undefined ? [{ ...newest, ...began }, ...older] : notes;
  const revision = set.annotations[REVISION];
  if (revision === undefined) return notes;
  const pods = Object.fromEntries(sidesOf(experiment).map(({ replicas, side }) => [side, replicas]));
  return [{ revision, step, at: draft.now, pods, checks: experiment.checks, ...began }, ...notes];
}

function ended(
  draft: RolloutDraft,
  set: ReplicaSetDraft,
  note: ExperimentNote,
  isStuck: boolean,
): ExperimentNote {
  const position = readPosition(set.annotations);
  const isAtStep = note.revision === set.annotations[REVISION] && position?.done === note.step - 1;
  const results = readResults(set.annotations);
  const runs = note.checks.flatMap((check) => findRun(results, { check, step: note.step }) ?? []);
  const judged = judge(note, runs, { position, isAtStep, isStuck, nowMs: draft.nowMs });
  return { ...note, ended: note.ended ?? draft.now, ...judged };
}

interface At {
  readonly position: Position | undefined;
  readonly isAtStep: boolean;
  readonly isStuck: boolean;
  readonly nowMs: number;
}

function judge(
  note: ExperimentNote,
  runs: readonly CheckRun[],
  { isAtStep, isStuck, nowMs, position }: At,
): Pick<ExperimentNote, 'verdict' | 'why'> {
  const failed = runs.find(({ state }) => state === 'failed');
  if (failed)
    return {
      verdict: 'failed',
      why: `check ${failed.check} failed: ${failed.why ?? ''}`.slice(0, LONGEST_WHY),
    };
  const without = runs.find(({ state }) => state === 'overridden');
  if (without) return { verdict: 'inconclusive', why: `the rollout went on without check ${without.check}` };
  if (position && position.done >= note.step) return { verdict: 'passed' };
  if (!isAtStep || !position) return { verdict: 'stopped' };
  const untilMs = parseTimeMs(position.until);
  if (untilMs === undefined && isTooLate(position, nowMs))
    return { verdict: 'failed', why: 'its pods were not available in time' };
  // A check is still open: its verdict decides.
  return isStuck || (untilMs !== undefined && nowMs >= untilMs) ? {} : { verdict: 'stopped' };
}

function isNote(value: unknown): value is ExperimentNote {
  if (!isJsonObject(value)) return false;
  const { at, began, checks, ended: end, pods, revision, step, verdict, why } = value;
  return (
    isShortText(revision) &&
    isCount(step) &&
    isTime(at) &&
    [began, end].every((time) => time === undefined || isTime(time)) &&
    isJsonObject(pods) &&
    Object.keys(pods).length <= MOST_PARTS &&
    Object.values(pods).every(isCount) &&
    Array.isArray(checks) &&
    checks.length <= MOST_PARTS &&
    checks.every((check) => isShortText(check)) &&
    (verdict === undefined || EXPERIMENT_VERDICTS.some((known) => known === verdict)) &&
    (why === undefined || isShortText(why))
  );
}
