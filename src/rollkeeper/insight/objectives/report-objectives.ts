import { namesOf } from '@rollkeeper/machinery/names-of';
import type { Quantity, Sample, Samples } from './objectives.js';
import { ALLOWED_PART, OBJECTIVES } from './objectives.js';

/** The measurements of one quantity in one span of time. */
interface ObjectiveWindow {
  /** `5m`, `1h`, `24h` */
  readonly window: string;
  readonly count: number;
  /** Seconds; absent without measurements. */
  readonly p50?: number;
  readonly p99?: number;
  /** How many took longer than the objective's p99. */
  readonly over: number;
  /** The part of the budget that is burnt: 1 is all of it. One in a hundred may take longer. */
  readonly burnt: number;
}

export interface ObjectiveReport {
  readonly quantity: Quantity;
  readonly title: string;
  /** Seconds. */
  readonly objective: { readonly p50: number; readonly p99: number };
  readonly windows: readonly ObjectiveWindow[];
  /** The last ones, oldest first. */
  readonly recent: readonly Sample[];
}

const WINDOWS: readonly (readonly [window: string, ms: number])[] = [
  ['5m', 5 * 60_000],
  ['1h', 3_600_000],
  ['24h', 24 * 3_600_000],
];
const RECENT = 200;

/** The report of the objectives, from the measurements of all replicas. */
export function reportObjectives(all: readonly Samples[], nowMs: number): readonly ObjectiveReport[] {
  return namesOf(OBJECTIVES).map((quantity) => {
    const samples = all.flatMap((each) => each[quantity]).toSorted(([a], [b]) => a - b);
    const { p50, p99, title } = OBJECTIVES[quantity];
    return {
      quantity,
      title,
      objective: { p50, p99 },
      windows: WINDOWS.map(([window, ms]) => ({
        window,
        ...figuresOf(
          samples.filter(([atMs]) => nowMs - atMs < ms),
          p99,
        ),
      })),
      recent: samples.slice(-RECENT),
    };
  });
}

function figuresOf(samples: readonly Sample[], limit: number): Omit<ObjectiveWindow, 'window'> {
  const sorted = samples.map(([, seconds]) => seconds).toSorted((a, b) => a - b);
  const count = sorted.length;
  const over = sorted.filter((seconds) => seconds > limit).length;
  const burnt = count === 0 ? 0 : over / count / ALLOWED_PART;
  const [p50, p99] = [quantileOf(sorted, 0.5), quantileOf(sorted, 0.99)];
  return { count, over, burnt, ...(p50 !== undefined && { p50 }), ...(p99 !== undefined && { p99 }) };
}

/** The nearest rank. */
function quantileOf(sorted: readonly number[], part: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)];
}
