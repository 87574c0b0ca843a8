import type { FaultKind } from './faults/fault.js';
import type { Violation } from './checkers/violation.js';

/** One fault that was made, and what it cost. */
export interface FaultRecord {
  readonly kind: FaultKind;
  readonly target: string;
  /** From its beginning until a change sent at once was observed. Absent: not within two minutes. */
  readonly recoveredMs: number | undefined;
}

export interface RunRecord {
  readonly seed: number;
  readonly ranMs: number;
  readonly rounds: number;
  readonly faults: readonly FaultRecord[];
  /** How often each check was made. */
  readonly checks: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
  readonly load: { readonly acknowledged: number; readonly refused: number; readonly unknown: number };
  /** From the end of the last fault and of the load until everything was at rest, round by round. */
  readonly restMs: readonly number[];
  /** The observations of the console, in one line. */
  readonly console?: string;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN;
}

/** The whole run as Markdown. */
export function renderReport(run: RunRecord): string {
  const { checks, faults, load, restMs, rounds, violations } = run;
  const kinds = [...new Set(faults.map(({ kind }) => kind))].sort();
  return [
    `Seed ${run.seed}, ${(run.ranMs / 60_000).toFixed(1)} minutes, ${rounds} rounds, ${faults.length} faults, ` +
      `${load.acknowledged} changes acknowledged (${load.refused} refused, ${load.unknown} without an answer).`,
    '',
    '| fault | times | recovered p50 | p99 | max (s) |',
    '|---|---:|---:|---:|---:|',
    ...kinds.map((kind) => faultRow(kind, faults)),
    faultRow('all', faults),
    '',
    '| check | times made | violations |',
    '|---|---:|---:|',
    ...Object.entries(checks).map(
      ([check, times]) =>
        `| ${check} | ${times} | ${violations.filter((found) => found.check === check).length} |`,
    ),
    '',
    `At rest after the last fault and change of a round: p50 ${seconds(percentile(restMs, 0.5))} s, ` +
      `max ${seconds(Math.max(...restMs))} s.`,
    ...(run.console === undefined ? [] : [run.console]),
    ...violations.slice(0, 50).map(({ check, problem, subject }) => `- ${check}: ${subject}: ${problem}`),
  ].join('\n');
}

function faultRow(kind: FaultKind | 'all', faults: readonly FaultRecord[]): string {
  const these = faults.filter((fault) => kind === 'all' || fault.kind === kind);
  const times = these.map(({ recoveredMs }) => recoveredMs ?? Number.POSITIVE_INFINITY);
  const cells = [percentile(times, 0.5), percentile(times, 0.99), Math.max(...times)].map(seconds);
  return `| ${kind} | ${these.length} | ${cells.join(' | ')} |`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
