import { renderDuration, toRfc3339 } from '@rollkeeper/machinery/clock';
import { parseTimeMs } from '../../../shared/index.js';
import type { CheckDefinition } from './check-definition.js';
import type { CheckRun, Measurement } from './check-results.js';
import type { CheckVerdict, Measured } from './common/check-verdict.js';
import { MOST_KEPT } from './check-results.js';

/** The longest message in an annotation. Characters. */
const LONGEST_MESSAGE = 200;
const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = 60_000;

export function newRun(named: Pick<CheckRun, 'check' | 'step'>, now: string, attempt = 1): CheckRun {
  const { check, step } = named;
  const none = { taken: 0, recent: '', unknown: 0, measurements: [] };
  return {
    check,
    ...(step !== undefined && { step }),
    attempt,
    began: now,
    state: 'measuring',
    next: now,
    ...none,
  };
}

/** The run with one more measurement. Pure: the same measurement of the same run comes to the same. */
export function addMeasurement(
  run: CheckRun,
  definition: CheckDefinition,
  measured: Measured,
  nowMs: number,
): CheckRun {
  const { isFinal = false, value, verdict } = measured;
  const at = toRfc3339(nowMs);
  const message = measured.message === undefined ? undefined : shortened(measured.message);
  const measurement: Measurement = {
    at,
    verdict,
    ...(value !== undefined && { value }),
    ...(message !== undefined && { message }),
  };
  const taken = {
    ...withoutTrouble(run),
    taken: run.taken + 1,
    measurements: [...run.measurements, measurement].slice(-MOST_KEPT),
  };
  const next = toRfc3339(nowMs + definition.intervalMs);
  if (definition.mode === 'observe')
    return observed({ ...taken, next }, definition, measured.verdict, message);
  if (verdict === 'unknown' && definition.unknown === 'hold')
    return withoutVerdict({ ...taken, unknownSince: run.unknownSince ?? at }, definition, {
      why: message,
      nowMs,
    });
  return judged({ ...taken, unknown: 0, next }, definition, {
    isFailed: verdict !== 'passed',
    isFinal,
    why: message,
  });
}

function withoutTrouble({ unknownSince: _since, why: _why, ...run }: CheckRun): CheckRun {
  return run;
}

/** A run that holds nothing: at a step it is over after as many measurements as count, with any verdicts. */
function observed(
  run: CheckRun,
  { count }: CheckDefinition,
  verdict: CheckVerdict,
  why: string | undefined,
): CheckRun {
  const letter = { passed: 'p', failed: 'f', unknown: '' }[verdict];
  const isOver = run.step !== undefined && run.taken >= count;
  return {
    ...run,
    mode: 'observe',
    recent: (run.recent + letter).slice(-count),
    unknown: verdict === 'unknown' ? run.unknown + 1 : 0,
    ...(verdict !== 'passed' && why !== undefined && { why }),
    state: isOver ? 'passed' : 'measuring',
  };
}

interface Judged {
  readonly isFailed: boolean;
  readonly isFinal: boolean;
  readonly why?: string;
}

function judged(run: CheckRun, definition: CheckDefinition, { isFailed, isFinal, why }: Judged): CheckRun {
  const { count, failureLimit } = definition;
  const recent = (run.recent + (isFailed ? 'f' : 'p')).slice(-count);
  const failures = [...recent].filter((letter) => letter === 'f').length;
  const told = isFailed && why !== undefined ? { why } : {};
  if (failures > failureLimit || (isFailed && isFinal)) return { ...run, ...told, recent, state: 'failed' };
  const isOver = run.step !== undefined && recent.length >= count;
  return { ...run, recent, state: isOver ? 'passed' : 'measuring' };
}

function withoutVerdict(
  run: CheckRun,
  definition: CheckDefinition,
  { nowMs, why = 'no verdict' }: { readonly why?: string; readonly nowMs: number },
): CheckRun {
  const unknown = run.unknown + 1;
  const waitMs = definition.kind === 'webhook' ? retryAfterMs(unknown) : definition.intervalMs;
  const told = { ...run, unknown, why, next: toRfc3339(nowMs + waitMs) };
  if (definition.kind === 'webhook' && unknown > definition.retries)
    return { ...told, state: 'failed', why: `no answer after ${unknown} tries: ${why}` };
  const { giveUpAfterMs } = definition;
  const forMs = nowMs - (parseTimeMs(run.unknownSince) ?? nowMs);
  if (giveUpAfterMs === undefined || forMs < giveUpAfterMs) return told;
  return { ...told, state: 'failed', why: `unknown for ${renderDuration(forMs)}: ${why}` };
}

/** Doubles with each try without an answer. */
function retryAfterMs(tries: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), LONGEST_RETRY_MS);
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= LONGEST_MESSAGE
    ? line
    : `${line.slice(0, LONGEST_MESSAGE - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
