import { parseGoDurationMs } from '@rollkeeper/machinery/clock';

interface Phase {
  readonly succeeds: boolean;
  readonly forMs: number;
}

/** The results of a probe from a time on: its phases one after the other, the last for ever unless they repeat. */
export interface ProbeOutcome {
  readonly phases: readonly Phase[];
  readonly repeats: boolean;
}

/** How often a probe is made, and how many results in a row count. */
export interface ProbeTiming {
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly failureThreshold: number;
  readonly successThreshold: number;
}

/** The result that counts at a time, and when it changes. */
export interface ProbeResult {
  readonly succeeds: boolean;
  /** Milliseconds on the same scale. @default never */
  readonly changesAtMs?: number;
}

export const FAILS: ProbeOutcome = steady(false);
const SUCCEEDS: ProbeOutcome = steady(true);

/** Results that are looked at on each side of a time: a probe whose results count less often never counts. */
const WINDOW = 1_000;
/** A container that is killed sooner would be restarted without end within one instant. */
const SHORTEST_LIFE_MS = 1_000;

/**
 * `succeeds`, `fails`, `fails after 30s`, `succeeds after 20s`, `flaps 20s` (as long well as not) or `flaps 20s 5s`.
 * @returns undefined if malformed
 */
export function parseProbeOutcome(text: string): ProbeOutcome | undefined {
  const words = text.trim().split(/\s+/);
  const [verb, second, third] = words;
  if (words.length === 1 && verb === 'succeeds') return SUCCEEDS;
  if (words.length === 1 && verb === 'fails') return FAILS;
  if (words.length === 3 && second === 'after' && (verb === 'succeeds' || verb === 'fails'))
    return turning(verb === 'succeeds', parseGoDurationMs(third ?? ''));
  if (verb !== 'flaps' || words.length < 2 || words.length > 3) return undefined;
  const wellMs = parseGoDurationMs(second ?? '');
  const illMs = third === undefined ? wellMs : parseGoDurationMs(third);
  if (!wellMs || !illMs) return undefined;
  return {
    repeats: true,
    phases: [
      { succeeds: true, forMs: wellMs },
      { succeeds: false, forMs: illMs },
    ],
  };
}

function steady(succeeds: boolean): ProbeOutcome {
  return { repeats: false, phases: [{ succeeds, forMs: Infinity }] };
}

function turning(succeeds: boolean, afterMs: number | undefined): ProbeOutcome | undefined {
  if (afterMs === undefined) return undefined;
  return {
    repeats: false,
    phases: [
      { succeeds: !succeeds, forMs: afterMs },
      { succeeds, forMs: Infinity },
    ],
  };
}

/** The result of a probe that is made at this time. */
export function outcomeAt({ phases, repeats }: ProbeOutcome, atMs: number): boolean {
  const roundMs = phases.reduce((sum, { forMs }) => sum + forMs, 0);
  let leftMs = repeats ? atMs % roundMs : atMs;
  for (const { forMs, succeeds } of phases) {
    if (leftMs < forMs) return succeeds;
    leftMs -= forMs;
  }
  return phases.at(-1)?.succeeds ?? true;
}

/** The first time that a wanted result reaches its threshold in a row; undefined if that never happens. */
function firstRun(
  outcome: ProbeOutcome,
  timing: ProbeTiming,
  fromMs: number,
  wanted: readonly boolean[],
): { readonly succeeds: boolean; readonly atMs: number } | undefined {
  const runs = resultsIn(outcome, timing, fromMs, 0, 10 * WINDOW);
  for (const run of runs) if (wanted.includes(run.succeeds)) return run;
  return undefined;
}

/** When a startup probe decides, and how. */
export function decideStartup(
  outcome: ProbeOutcome,
  timing: ProbeTiming,
): { readonly startsAfterMs?: number; readonly killedAfterMs?: number } {
  const first = firstRun(outcome, timing, 0, [true, false]);
  if (!first) return {};
  return first.succeeds
    ? { startsAfterMs: first.atMs }
    : { killedAfterMs: Math.max(first.atMs, SHORTEST_LIFE_MS) };
}

/**
 * When a liveness probe has a container killed.
 * @param fromMs when its container has started, by its startup probe
 */
export function decideKill(outcome: ProbeOutcome, timing: ProbeTiming, fromMs: number): number | undefined {
  const failed = firstRun(outcome, timing, fromMs, [false]);
  return failed && Math.max(failed.atMs, SHORTEST_LIFE_MS);
}

/**
 * Whether a readiness probe lets its container be ready at a time. It does not before its first result.
 * @param fromMs when its container has started, by its startup probe
 */
export function decideReadiness(
  outcome: ProbeOutcome,
  timing: ProbeTiming,
  fromMs: number,
  nowMs: number,
): ProbeResult {
  const firstMs = Math.max(timing.initialDelayMs, fromMs);
  const current = Math.floor((nowMs - firstMs) / timing.periodMs);
  let succeeds = false;
  const start = Math.max(current - WINDOW, 0);
  for (const run of resultsIn(outcome, timing, fromMs, start, Math.max(current, 0) + WINDOW)) {
    if (run.atMs > nowMs && run.succeeds !== succeeds) return { succeeds, changesAtMs: run.atMs };
    if (run.atMs <= nowMs) ({ succeeds } = run);
  }
  return { succeeds };
}

/** The results that count among probes `start` to `end`, each when the last of its run was found. */
function* resultsIn(
  outcome: ProbeOutcome,
  { failureThreshold, initialDelayMs, periodMs, successThreshold }: ProbeTiming,
  fromMs: number,
  start: number,
  end: number,
): Generator<{ readonly succeeds: boolean; readonly atMs: number }> {
  const firstMs = Math.max(initialDelayMs, fromMs);
  let [last, inARow]: [boolean | undefined, number] = [undefined, 0];
  for (let index = start; index <= end; index++) {
    const atMs = firstMs + index * periodMs;
    const succeeds = outcomeAt(outcome, atMs);
    inARow = succeeds === last ? inARow + 1 : 1;
    last = succeeds;
    if (inARow === (succeeds ? successThreshold : failureThreshold)) yield { succeeds, atMs };
  }
}
