import type { HealthCheckResult } from '@nestjs/terminus';

/**
 * A health result as Kubernetes writes it: `ok` when all is well and nobody asked for more, else a line a check.
 * Reasons are left out: this page is for anybody.
 */
export function renderHealthText(endpoint: string, result: HealthCheckResult, verbose: boolean): string {
  const well = result.status === 'ok' || result.status === 'degraded';
  if (well && !verbose) return 'ok';
  const lines = Object.entries(result.details).map(([name, { status }]) =>
    status === 'down' ? `[-]${name} failed: reason withheld` : `[+]${name} ok`,
  );
  return [...lines, `${endpoint} check ${well ? 'passed' : 'failed'}`, ''].join('\n');
}
