import type { ApiClient, EventNote, Kind } from '@rollkeeper/runtime';
import { isConflict, isNotFound } from '@rollkeeper/runtime';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import type { CheckVerdict, Measured } from './common/check-verdict.js';
import { addMeasurement } from './add-measurement.js';
import type { DueCheck } from './check-needs.js';
import type { CheckResults, CheckRun } from './check-results.js';
import { findRun, putRun, readResults, withResults } from './check-results.js';
import type { JobRuns } from './measure-job.js';

/** Looks at checks, with I/O. Rejects only where the sync has to fail: what cannot be measured is a measurement without a verdict. */
export interface CheckMeter {
  measure(due: DueCheck, context: MeterContext): Promise<Measured | JobRuns>;
  /** Hears of each measurement that has been recorded. */
  onMeasured?(about: { readonly kind: string; readonly verdict: CheckVerdict }): void;
}

export interface MeterContext {
  readonly client: Pick<ApiClient, 'get' | 'create'>;
  readonly signal: AbortSignal;
  readonly replicaSet: DeepReadonly<ReplicaSet>;
}

export interface MeasureContext {
  readonly client: Pick<ApiClient, 'get' | 'create' | 'update'>;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  /** The revision under which results are recorded. @default that of the subject */
  readonly revision?: string;
  /** The kind of the version that keeps the results. @default ReplicaSet */
  readonly holder?: Kind<KubernetesObject>;
  /** Hears of each change of a check's state. */
  readonly tell: (note: EventNote) => void;
}

/** The result of a check that was due. */
export interface CheckOutcome {
  /** When to look again, unless something happens before. */
  readonly lookAgainAfterMs: number;
}

/** The result brings the next pass; this covers a watch that misses it. */
const LOOK_AGAIN_MS = 1000;
/** Others write the same ReplicaSet all the time. */
const MOST_TRIES = 5;

interface Look {
  readonly due: DueCheck;
  readonly result: Measured | JobRuns;
}

/**
 * Measures what is due, all at once, and records it in one write: with the results as they were when the pass was decided, or not at all.
 * So no measurement is counted twice. One that could not be recorded, because the process died or another was faster, is as if it had not
 * been: it is measured again.
 */
export async function measureChecks(
  dues: readonly DueCheck[],
  replicaSet: DeepReadonly<ReplicaSet>,
  meter: CheckMeter,
  context: MeasureContext,
): Promise<CheckOutcome> {
  const { client, signal } = context;
  const looks = await Promise.all(
    dues.map(async (due) => ({ due, result: await meter.measure(due, { client, signal, replicaSet }) })),
  );
  const changing = looks.filter(isNews);
  const runningMs = looks
    .filter((look) => !changing.includes(look))
    .map(({ due }) => due.definition.intervalMs);
  if (changing.length === 0) return { lookAgainAfterMs: Math.min(...runningMs) };
  const recorded = await record(replicaSet, changing, context);
  for (const { after, before, look } of recorded) {
    if ('verdict' in look.result)
      meter.onMeasured?.({ kind: look.due.definition.kind, verdict: look.result.verdict });
    const note = noteOf(before, after);
    if (note) context.tell(note);
  }
  return { lookAgainAfterMs: Math.min(LOOK_AGAIN_MS, ...runningMs) };
}

/** A Job that still runs, as it did before, is none. */
function isNews({ due, result }: Look): boolean {
  return 'verdict' in result || due.run.job !== result.job;
}

interface Recorded {
  readonly look: Look;
  readonly before: CheckRun;
  readonly after: CheckRun;
}

async function record(
  replicaSet: DeepReadonly<ReplicaSet>,
  looks: readonly Look[],
  {
    client,
    holder: kind = ReplicaSet,
    nowMs,
    revision = looks[0]?.due.subject.revision ?? '',
    signal,
  }: MeasureContext,
): Promise<readonly Recorded[]> {
  for (let attempt = 1; ; attempt++) {
    const live = await readLive(kind, replicaSet, client, signal);
    const results = live && (readResults(live.metadata.annotations ?? {}) ?? { revision, runs: [] });
    if (!live || results?.revision !== revision) return [];
    const recorded = looks.flatMap((look) => recordedOf(look, results, nowMs()));
    if (recorded.length === 0) return [];
    const all = recorded.reduce((sum, { after }) => putRun(sum, after), results);
    const annotations = withResults(live.metadata.annotations ?? {}, all);
    try {
      await client.update<KubernetesObject>(
        kind,
        { ...live, metadata: { ...live.metadata, annotations } },
        { signal },
      );
      return recorded;
    } catch (error) {
      if (isNotFound(error)) return [];
      if (!isConflict(error) || attempt === MOST_TRIES) throw error;
    }
  }
}

/** The version as it is now, if it is still the same one. */
async function readLive(
  kind: Kind<KubernetesObject>,
  { metadata }: DeepReadonly<ReplicaSet>,
  client: Pick<ApiClient, 'get'>,
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  try {
    const live = await client.get<KubernetesObject>(kind, metadata, { signal });
    return live.metadata.uid === metadata.uid ? live : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function recordedOf(look: Look, results: CheckResults, nowMs: number): readonly Recorded[] {
  const { definition, run } = look.due;
  const current = findRun(results, run);
  const isSame =
    (current?.state ?? 'measuring') === 'measuring' &&
    (current?.attempt ?? run.attempt) === run.attempt &&
    (current?.taken ?? 0) === run.taken;
  if (!isSame) return [];
  const before = current ?? run;
  const after =
    'verdict' in look.result
      ? addMeasurement(before, definition, look.result, nowMs)
      : { ...before, job: look.result.job, next: toRfc3339(nowMs + definition.intervalMs) };
  return [{ look, before, after }];
}

/** Once for each change. */
function noteOf(before: CheckRun, after: CheckRun): EventNote | undefined {
  const { check, step, unknown, why = '' } = after;
  const name = step === undefined ? `Check ${check}` : `Check ${check} of step ${step}`;
  if (after.mode === 'observe') return noteOfObserved(before, after, name);
  if (after.state === 'passed')
    return { type: 'Normal', reason: 'CheckPassed', message: `${name} has passed` };
  if (after.state === 'failed')
    return { type: 'Warning', reason: 'CheckFailed', message: `${name} failed: ${why}` };
  if (unknown > 0 && before.unknown === 0)
    return { type: 'Warning', reason: 'CheckUnknown', message: `${name} is unknown: ${why}` };
  if (unknown === 0 && before.unknown > 0)
    return { type: 'Normal', reason: 'CheckKnown', message: `${name} is known again` };
  return undefined;
}

/** Once for each change of the verdict. */
function noteOfObserved(before: CheckRun, after: CheckRun, name: string): EventNote | undefined {
  const verdict = after.measurements.at(-1)?.verdict;
  if (verdict === undefined || verdict === before.measurements.at(-1)?.verdict) return undefined;
  if (verdict === 'passed')
    return { type: 'Normal', reason: 'CheckObserved', message: `${name}, which is only observed, passes` };
  const is = verdict === 'failed' ? 'would fail' : 'is unknown';
  return {
    type: 'Warning',
    reason: 'CheckObserved',
    message: `${name}, which is only observed, ${is}: ${after.why ?? 'no reason is known'}`,
  };
}
