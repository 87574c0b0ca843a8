import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { TimeoutError } from '@rollkeeper/machinery/errors';

/**
 * Looks at one thing. Returns, or resolves, when it is well, with a note where there is something to be said all the same;
 * throws the reason when it is not.
 */
export interface HealthCheck {
  /** Lower-case words with hyphens: stands in `?exclude=` and in the path. */
  readonly name: string;
  check(): HealthNote | Promise<HealthNote>;
}

/** For people; undefined where there is nothing to be said. */
export type HealthNote = string | undefined | void;

export type HealthEndpoint = 'livez' | 'readyz';

/** The checks behind each endpoint; components add theirs while the process is put together. */
export class HealthRegistry {
  private readonly checks: Record<HealthEndpoint, HealthCheck[]> = { livez: [], readyz: [] };

  add(endpoint: HealthEndpoint, check: HealthCheck): void {
    if (this.checks[endpoint].some(({ name }) => name === check.name)) {
      throw new Error(`${endpoint} already has a check named ${check.name}`);
    }
    this.checks[endpoint].push(check);
  }

  /** By name, so that output is stable. */
  of(endpoint: HealthEndpoint): readonly HealthCheck[] {
    return this.checks[endpoint].toSorted((a, b) => a.name.localeCompare(b.name));
  }

  /** What `/healthz` looks at: everything, each name once. */
  all(): readonly HealthCheck[] {
    const byName = new Map([...this.of('livez'), ...this.of('readyz')].map((check) => [check.name, check]));
    return [...byName.values()].toSorted((a, b) => a.name.localeCompare(b.name));
  }
}

/**
 * Fails when the event loop was held up for longer than `limitMs` at the last tick. A probe that is answered at
 * all proves that the loop turns; this tells a loop that limps from one that runs.
 */
export class EventLoopMonitor implements HealthCheck {
  readonly name = 'event-loop';
  private lastDelayMs = 0;

  constructor(
    private readonly clock: Clock,
    private readonly options: { readonly intervalMs: number; readonly limitMs: number } = {
      intervalMs: 500,
      limitMs: 5000,
    },
  ) {}

  /** Measures until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedMs = this.clock.monotonicNow();
      if (await pause(this.clock, this.options.intervalMs, signal))
        this.lastDelayMs = this.clock.monotonicNow() - startedMs - this.options.intervalMs;
    }
  }

  check(): void {
    if (this.lastDelayMs > this.options.limitMs) {
      throw new TimeoutError(`the event loop was held up for ${Math.round(this.lastDelayMs)} ms`);
    }
  }
}
