import type { HealthCheckResult } from '@nestjs/terminus';

interface HealthTextOptions {
  /** List each check even if all are healthy. */
  readonly verbose: boolean;
  /** Include reasons and notes, for authorized clients. */
  readonly reasons: boolean;
}

export function isWell({ status }: HealthCheckResult): boolean {
  return status === 'ok' || status === 'degraded';
}

/** A health result in Kubernetes' format: `ok` if all is well and not verbose, otherwise a line per check. */
export function renderHealthText(
  endpoint: string,
  result: HealthCheckResult,
  { reasons, verbose }: HealthTextOptions,
): string {
  const well = isWell(result);
  if (well && !verbose) return 'ok';
  const lines = Object.entries(result.details).map(([name, detail]) => {
    const note = reasons ? textOf(detail) : undefined;
    if (detail.status !== 'down') return note === undefined ? `[+]${name} ok` : `[+]${name} ok: ${note}`;
    return `[-]${name} failed: ${reasons ? (note ?? 'no reason given') : 'reason withheld'}`;
  });
  return [...lines, `${endpoint} check ${well ? 'passed' : 'failed'}`, ''].join('\n');
}

/** Names and states, without error texts. */
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

/** What a check says, in one line. */
function textOf(detail: object): string | undefined {
  const message = 'message' in detail ? detail.message : undefined;
  return typeof message === 'string' && message !== '' ? message.replaceAll(/\s+/g, ' ') : undefined;
}
