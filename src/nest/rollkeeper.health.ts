import { Inject, Injectable } from '@nestjs/common';
import type { HealthIndicatorResult } from '@nestjs/terminus';
import { HealthIndicatorService } from '@nestjs/terminus';
import type { HealthCheck, HealthEndpoint } from '@rollkeeper/runtime';
import { ControllerManager } from '@rollkeeper/runtime';

/** A check that does not answer counts as failed after this long. */
const CHECK_TIMEOUT_MS = 1500;

/**
 * The manager's checks as terminus has them, for an application's own health route:
 * `health.check([...rollkeeper.checks('readyz'), () => db.pingCheck('db')])`.
 */
@Injectable()
export class RollkeeperHealthIndicator {
  constructor(
    @Inject(ControllerManager) private readonly manager: ControllerManager,
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
  ) {}

  /** One function for each check of the endpoint: `leader-election`, `informers-synced`, `controller-office-hours` … */
  checks(endpoint: HealthEndpoint | 'healthz' = 'readyz'): (() => Promise<HealthIndicatorResult>)[] {
    const { health } = this.manager;
    const checks = endpoint === 'healthz' ? health.all() : health.of(endpoint);
    return checks.map((check) => () => attemptCheck(this.indicators, check));
  }
}

/** Runs a check as terminus wants it. What it returns as text is shown with its state. */
export async function attemptCheck(
  indicators: HealthIndicatorService,
  check: HealthCheck,
): Promise<HealthIndicatorResult> {
  return indicators
    .check(check.name)
    .attempt(async () => {
      const note = await check.check();
      return typeof note === 'string' ? { message: note } : undefined;
    })
    .withTimeout(CHECK_TIMEOUT_MS);
}
