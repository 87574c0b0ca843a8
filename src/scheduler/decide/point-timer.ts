/** The extension points of kube-scheduler whose durations are noted, by its names. */
export type TimedPoint =
  | 'PreFilter'
  | 'Filter'
  | 'PostFilter'
  | 'PreScore'
  | 'Score'
  | 'Reserve'
  | 'Unreserve'
  | 'Permit'
  | 'PreBind'
  | 'Bind'
  | 'PostBind';

/** Notes how long the extension points of attempts take. */
export interface PointTimer {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** @param status a code of a status, `Success` where the point had nothing to object */
  readonly note: (point: TimedPoint, status: string, durationMs: number) => void;
}

interface Coded {
  readonly code: string;
}

/** Runs a point. @param statusOf what it came to. @default nothing to object */
export function timed<T>(
  timer: PointTimer | undefined,
  point: TimedPoint,
  run: () => T,
  statusOf: (result: T) => Coded | undefined = () => undefined,
): T {
  if (!timer) return run();
  const startMs = timer.now();
  let status = 'Error';
  try {
    const result = run();
    status = statusOf(result)?.code ?? 'Success';
    return result;
  } finally {
    timer.note(point, status, timer.now() - startMs);
  }
}

/** As {@link timed}, of a point that does I/O. */
export async function timedUntil<T>(
  timer: PointTimer | undefined,
  point: TimedPoint,
  run: () => Promise<T>,
  statusOf: (result: T) => Coded | undefined,
): Promise<T> {
  const startMs = timer?.now() ?? 0;
  let status = 'Error';
  try {
    const result = await run();
    status = statusOf(result)?.code ?? 'Success';
    return result;
  } finally {
    timer?.note(point, status, timer.now() - startMs);
  }
}
