import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Annotations } from '../../kubernetes/annotations.js';
import { REVISION } from '../../kubernetes/annotations.js';
import { CHECK_RESULTS } from './settings.js';
import type { CheckVerdict } from './common/check-verdict.js';
import { VERDICTS } from './common/check-verdict.js';
import { isCount, isShortText, isTime, readJson } from '../../../shared/index.js';

/** One look at a check. */
export interface Measurement {
  /** RFC 3339. */
  readonly at: string;
  readonly verdict: CheckVerdict;
  /** The measured value, if it is a number. */
  readonly value?: number;
  /** Why it failed or is unknown, for people. */
  readonly message?: string;
}

const STATES = ['measuring', 'passed', 'failed', 'overridden'] as const;
/** `overridden`: a person continued without it. */
export type CheckState = (typeof STATES)[number];

/** A check of one revision, at one step or all the way through. */
export interface CheckRun {
  readonly check: string;
  /** Counted from 1; absent where it is measured all the way through. */
  readonly step?: number;
  /** Counted from 1; a person may request a retry of a failed one. */
  readonly attempt: number;
  /** RFC 3339, as the other times. */
  readonly began: string;
  readonly state: CheckState;
  /** When the next measurement is due. */
  readonly next: string;
  /** How many measurements there have been, also those that are no longer listed. */
  readonly taken: number;
  /** `p` and `f` for the last known verdicts, oldest first, as many as count. */
  readonly recent: string;
  /** How many in a row have had no verdict. */
  readonly unknown: number;
  /** Since when there is no verdict, if there is none. */
  readonly unknownSince?: string;
  /** Why it is failed or unknown. */
  readonly why?: string;
  /** The person that continued without it. */
  readonly by?: string;
  /** Its measurements are shown, and hold nothing. @default they count */
  readonly mode?: 'observe';
  /** The Job that was created for it. */
  readonly job?: string;
  /** The last ones, oldest first. */
  readonly measurements: readonly Measurement[];
}

/** The results of a revision's checks. */
export interface CheckResults {
  readonly revision: string;
  readonly runs: readonly CheckRun[];
}

/** The number of measurements that are kept of each run, for a chart. */
export const MOST_KEPT = 10;
/** The longest text of the annotation: those of an object have 256 KiB together. Characters. */
const MOST_TEXT = 32 * 1024;
/** A check at each of the steps, and as many throughout. */
const MOST_RUNS = 100;
/** As many verdicts as a check may count. */
const MOST_RECENT = 50;

/** The results of the revision that the ReplicaSet is now, or was last; none where there were no checks. */
export function readCheckResults({
  metadata,
}: DeepReadonly<Pick<ReplicaSet, 'metadata'>>): readonly CheckRun[] {
  return readResults(metadata.annotations ?? {})?.runs ?? [];
}

/** `undefined` where there are none of this revision, or none that can be read: another hand wrote them. */
export function readResults(annotations: Annotations): CheckResults | undefined {
  const read = readJson(annotations[CHECK_RESULTS]);
  if (!isJsonObject(read) || read['revision'] !== annotations[REVISION]) return undefined;
  const { revision, runs } = read;
  if (typeof revision !== 'string' || !Array.isArray(runs)) return undefined;
  return { revision, runs: runs.slice(0, MOST_RUNS).filter(isRun) };
}

/** Within bounds: measurements of runs that are over go first, the oldest runs before others. */
export function renderResults({ revision, runs }: CheckResults): string {
  let kept = runs.map((run) => ({ ...run, measurements: run.measurements.slice(-MOST_KEPT) }));
  const text = (): string => stringifyJson({ revision, runs: kept });
  const order = [...kept.keys()].sort((a, b) => rankOf(kept[a]) - rankOf(kept[b]) || a - b);
  for (const index of order) {
    if (text().length <= MOST_TEXT) break;
    kept = kept.map((run, at) => (at === index ? { ...run, measurements: [] } : run));
  }
  return text();
}

function rankOf(run: CheckRun | undefined): number {
  return run?.state === 'measuring' ? 1 : 0;
}

export function withResults(annotations: Annotations, results: CheckResults): Record<string, string> {
  return { ...annotations, [CHECK_RESULTS]: renderResults(results) };
}

/** The run of a check at a step, or all the way through. */
export function findRun(
  results: CheckResults | undefined,
  { check, step }: Pick<CheckRun, 'check' | 'step'>,
): CheckRun | undefined {
  return results?.runs.find((run) => run.check === check && run.step === step);
}

/** Whether its last measurement lets a rollout go on: one that is observed always does. */
export function hasVerdict({ mode, recent, taken, unknown }: CheckRun): boolean {
  return mode === 'observe' ? taken > 0 : recent !== '' && unknown === 0;
}

/** With a run in the place of that of the same check and step. */
export function putRun(results: CheckResults, added: CheckRun): CheckResults {
  const { check, step } = added;
  const isSame = (run: CheckRun): boolean => run.step === step && (step !== undefined || run.check === check);
  const at = results.runs.findIndex(isSame);
  const runs = at < 0 ? [...results.runs, added] : results.runs.with(at, added);
  return { ...results, runs };
}

function isRun(value: unknown): value is CheckRun {
  if (!isJsonObject(value)) return false;
  const { attempt, began, by, check, job, measurements, mode, next, recent, state, step, taken } = value;
  const { unknown, unknownSince, why } = value;
  return (
    isShortText(check) &&
    [began, next].every(isTime) &&
    isShortText(recent, MOST_RECENT) &&
    /^[pf]*$/.test(recent) &&
    [attempt, taken, unknown].every(isCount) &&
    (step === undefined || isCount(step)) &&
    (mode === undefined || mode === 'observe') &&
    (unknownSince === undefined || isTime(unknownSince)) &&
    [by, job, why].every((text) => text === undefined || isShortText(text)) &&
    STATES.some((known) => known === state) &&
    Array.isArray(measurements) &&
    measurements.length <= MOST_RECENT &&
    measurements.every(isMeasurement)
  );
}

function isMeasurement(value: unknown): value is Measurement {
  return (
    isJsonObject(value) &&
    isTime(value['at']) &&
    (value['value'] === undefined || typeof value['value'] === 'number') &&
    (value['message'] === undefined || isShortText(value['message'])) &&
    VERDICTS.some((each) => each === value['verdict'])
  );
}
