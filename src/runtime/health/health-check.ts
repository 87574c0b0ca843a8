import type { Clock } from '@rollkeeper/machinery/clock';
import { pause } from '@rollkeeper/machinery/clock';
import { TimeoutError } from '@rollkeeper/machinery/errors';

/** Checks one thing. Returns or resolves if it is healthy, optionally with a note; throws the reason if it is not. */
export interface HealthCheck {
  /** Lower-case words with hyphens; used in `?exclude=` and in the path. */
  readonly name: string;
  check(): HealthNote | Promise<HealthNote>;
}

/** For people; undefined if there is nothing to add. */
export type HealthNote = string | undefined | void;

/** `livez` fails where only a restart helps, `readyz` while the replica cannot do its work. */
export type HealthEndpoint = 'livez' | 'readyz';

/** The checks behind each endpoint; components add theirs while the process is assembled. */
export class HealthRegistry {
  private readonly checks: Record<HealthEndpoint, HealthCheck[]> = { livez: [], readyz: [] };

  add(endpoint: HealthEndpoint, check: HealthCheck): void {
    if (this.checks[endpoint].some(({ name }) => name === check.name)) {
      throw new Error(`${endpoint} already has a check named ${check.name}`);
    }
    this.checks[endpoint].push(check);
  }

  /** Sorted by name, so that the output is stable. */
  of(endpoint: HealthEndpoint): readonly HealthCheck[] {
    return this.checks[endpoint].toSorted((a, b) => a.name.localeCompare(b.name));
  }

  /** The checks of `/healthz`: all of them, each name once. */
  all(): readonly HealthCheck[] {
    const byName = new Map([...this.of('livez'), ...this.of('readyz')].map((check) => [check.name, check]));
    return [...byName.values()].toSorted((a, b) => a.name.localeCompare(b.name));
  }
}

/**
 * Fails if the event loop was blocked for longer than `limitMs` at the last tick. Any answer to a probe proves that the
 * loop turns; this detects a slow one.
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
