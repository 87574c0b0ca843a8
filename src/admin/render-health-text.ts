import type { HealthCheckResult } from '@nestjs/terminus';

export interface HealthTextOptions {
  /** A line a check also when all is well. */
  readonly verbose: boolean;
  /** Why checks fail; for those who may know. */
  readonly reasons: boolean;
}

export function isWell({ status }: HealthCheckResult): boolean {
  return status === 'ok' || status === 'degraded';
}

/** A health result as Kubernetes writes it: `ok` when all is well and nobody asked for more, else a line a check. */
export function renderHealthText(
  endpoint: string,
  result: HealthCheckResult,
  { reasons, verbose }: HealthTextOptions,
): string {
  const well = isWell(result);
  if (well && !verbose) return 'ok';
  const lines = Object.entries(result.details).map(([name, detail]) => {
    if (detail.status !== 'down') return `[+]${name} ok`;
    return `[-]${name} failed: ${reasons ? reasonOf(detail) : 'reason withheld'}`;
  });
  return [...lines, `${endpoint} check ${well ? 'passed' : 'failed'}`, ''].join('\n');
}

/** Names and states, and nothing that an error said. */
export function withoutReasons(result: HealthCheckResult): HealthCheckResult {
  const strip = (part: Partial<HealthCheckResult['details']> = {}): HealthCheckResult['details'] =>
    Object.fromEntries(
      Object.entries(part).flatMap(([name, detail]) => (detail ? [[name, { status: detail.status }]] : [])),
    );
  return {
    status: result.status,
    info: strip(result.info),
    error: strip(result.error),
    details: strip(result.details),
  };
}

function reasonOf(detail: object): string {
  const { message } = detail as { message?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : 'no reason given';
  return text.replaceAll(/\s+/g, ' ');
}
