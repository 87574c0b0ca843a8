import { Inject, Injectable } from '@nestjs/common';
import type { HealthIndicatorResult } from '@nestjs/terminus';
import { HealthIndicatorService } from '@nestjs/terminus';
import { abortable } from '@rollkeeper/machinery/cancellation';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { HealthCheck, HealthEndpoint } from '@rollkeeper/runtime';
import { ControllerManager } from '@rollkeeper/runtime';

/** A check without an answer after this time counts as failed. */
const CHECK_TIMEOUT_MS = 1500;

/**
 * The manager's checks in terminus' form, for an application's own health route:
 * `health.check([...rollkeeper.checks('readyz'), () => db.pingCheck('db')])`.
 */
@Injectable()
export class RollkeeperHealthIndicator {
  constructor(
    @Inject(ControllerManager) private readonly manager: ControllerManager,
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
  ) {}

  /** One function per check of the endpoint: `leader-election`, `informers-synced`, `controller-office-hours` … */
  checks(endpoint: HealthEndpoint | 'healthz' = 'readyz'): (() => Promise<HealthIndicatorResult>)[] {
    const { health } = this.manager;
    const checks = endpoint === 'healthz' ? health.all() : health.of(endpoint);
    return checks.map((check) => () => attemptCheck(this.indicators, check));
  }
}

/** The part of terminus common to all its releases, and the part added in 12. */
type Session = ReturnType<HealthIndicatorService['check']>;
type SessionOfAnyRelease = Pick<Session, 'up' | 'down'> & Partial<Pick<Session, 'attempt'>>;

/** Runs a check as a terminus indicator. A text that the check returns is shown with its state. */
export async function attemptCheck(
  indicators: { check(name: string): SessionOfAnyRelease },
  check: HealthCheck,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<HealthIndicatorResult> {
  const session = indicators.check(check.name);
  const run = async (): Promise<{ message: string } | undefined> => {
    const note = await check.check();
    return typeof note === 'string' ? { message: note } : undefined;
  };
  if (session.attempt) return session.attempt(run).withTimeout(timeoutMs);
  try {
    return session.up(await abortable(run(), AbortSignal.timeout(timeoutMs)));
  } catch (error) {
    return session.down({ message: errorMessage(error) });
  }
}
