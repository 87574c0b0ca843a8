import { Controller, Get, Inject, Req, Res, ServiceUnavailableException } from '@nestjs/common';
import type { HealthCheckResult } from '@nestjs/terminus';
import { HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import type { Request, Response } from 'express';
import type { HealthCheck } from '@rollkeeper/runtime/health';
import { HealthRegistry } from '@rollkeeper/runtime/health';
import { attemptCheck } from '@rollkeeper/nest/rollkeeper.health';
import { factsOf } from './access.middleware.js';
import { AdminPorts } from './admin-ports.js';
import { Shows } from './route-sight.js';
import { ExpiringMap } from '@rollkeeper/machinery/clock';
import type { AccessQuestion } from '../delegated-access/index.js';
import type { AccessRules, RequestFacts } from './decide-access.js';
import { decideAccess } from './decide-access.js';
import { GUESS_LIMITS, RequestLimiter } from './request-limiter.js';

/** Longer than the pause that {@link GUESS_LIMITS} demand, so that a lock has ended by itself before it is forgotten. */
const LOCKED_AT_MOST_MS = 60_000;

/** Reasons need the same right as this page. */
const AS_IF_READING = '/admin/status';

/**
 * Health pages are public, the reasons on them are not: an error names hosts and more. Reasons are for clients that may
 * read the admin pages. Wrong tokens count here too, or these pages could be used to guess one.
 */
export class ReasonAccess {
  private readonly guesses: RequestLimiter;
  private readonly locked: ExpiringMap<true>;
  private readonly rules: AccessRules;

  constructor(private readonly ports: Pick<AdminPorts, 'clock' | 'token' | 'delegated'>) {
    this.guesses = new RequestLimiter(ports.clock, GUESS_LIMITS);
    this.locked = new ExpiringMap(() => ports.clock.monotonicNow(), LOCKED_AT_MOST_MS);
    this.rules = { token: ports.token, delegated: ports.delegated !== undefined };
  }

  async maySeeReasons(facts: RequestFacts): Promise<boolean> {
    const decision = decideAccess({ ...facts, method: 'GET', path: AS_IF_READING }, this.rules);
    if (decision.decision === 'allow') return !this.isLocked(facts);
    if (decision.decision === 'ask') return !this.isLocked(facts) && this.ask(decision.question, facts);
    if (decision.guess) this.noteGuess(facts);
    return false;
  }

  private async ask(question: AccessQuestion, facts: RequestFacts): Promise<boolean> {
    const answer = await this.ports.delegated?.judge(question);
    if (answer?.verdict === 'unauthenticated') this.noteGuess(facts);
    return answer?.verdict === 'allowed';
  }

  private noteGuess({ remoteAddress = '' }: RequestFacts): void {
    if (this.guesses.take(remoteAddress) > 0) this.locked.set(remoteAddress, true, LOCKED_AT_MOST_MS);
  }

  /** After too many wrong tokens, a right one must not be distinguishable. */
  private isLocked({ authorization, remoteAddress = '' }: RequestFacts): boolean {
    if (authorization === undefined || !this.locked.get(remoteAddress)) return false;
    if (this.guesses.take(remoteAddress) > 0) return true;
    this.locked.delete(remoteAddress);
    return false;
  }
}

/**
 * `/livez`, `/readyz` and `/healthz` as in Kubernetes (`?verbose`, `?exclude=NAME`, `/readyz/NAME`), answered by
 * terminus. Plain text for people and probes; terminus' JSON for `Accept: application/json`. `?verbose` and JSON
 * include why a check fails, for clients that may read the admin pages.
 */
@Controller()
@Shows('cluster')
export class HealthController {
  private readonly reasons: ReasonAccess;

  constructor(
    @Inject(HealthCheckService) private readonly terminus: HealthCheckService,
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(HealthRegistry) private readonly registry: HealthRegistry,
    @Inject(AdminPorts) ports: AdminPorts,
  ) {
    this.reasons = new ReasonAccess(ports);
  }

  @Get(['livez', 'livez/:check'])
  livez(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.answer('livez', this.registry.of('livez'), request, response);
  }

  @Get(['readyz', 'readyz/:check'])
  readyz(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.answer('readyz', this.registry.of('readyz'), request, response);
  }

  @Get(['healthz', 'healthz/:check'])
  healthz(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.answer('healthz', this.registry.all(), request, response);
  }

  private async answer(
    endpoint: string,
    checks: readonly HealthCheck[],
    request: Request,
    response: Response,
  ): Promise<void> {
    const { check: wanted } = request.params as { check?: string };
    const excluded = [request.query['exclude'] ?? []].flat();
    const chosen = checks.filter(
      ({ name }) => (wanted === undefined || name === wanted) && !excluded.includes(name),
    );
    if (wanted !== undefined && chosen.length === 0) {
      response.status(404).type('text/plain').send(`${endpoint} has no check named ${wanted}\n`);
      return;
    }
    const result = await this.run(chosen);
    const verbose = 'verbose' in request.query;
    const asJson = request.headers.accept?.includes('application/json') ?? false;
    const reasons = (verbose || asJson) && (await this.reasons.maySeeReasons(factsOf(request)));
    response.status(isWell(result) ? 200 : 503).setHeader('Cache-Control', 'no-store');
    if (asJson) response.json(reasons ? result : withoutReasons(result));
    else response.type('text/plain').send(renderHealthText(endpoint, result, { reasons, verbose }));
  }

  private async run(checks: readonly HealthCheck[]): Promise<HealthCheckResult> {
    try {
      return await this.terminus.check(checks.map((check) => () => attemptCheck(this.indicators, check)));
    } catch (error) {
      if (error instanceof ServiceUnavailableException) return error.getResponse() as HealthCheckResult;
      throw error;
    }
  }
}

interface HealthTextOptions {
  /** List each check even if all are healthy. */
  readonly verbose: boolean;
  /** Include reasons and notes, for authorized clients. */
  readonly reasons: boolean;
}

function isWell({ status }: HealthCheckResult): boolean {
  return status === 'ok' || status === 'degraded';
}

/** A health result in Kubernetes' format: `ok` if all is well and not verbose, otherwise a line per check. */
function renderHealthText(
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
function withoutReasons(result: HealthCheckResult): HealthCheckResult {
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

/** The words of a check, in one line. */
function textOf(detail: object): string | undefined {
  const message = 'message' in detail ? detail.message : undefined;
  return typeof message === 'string' && message !== '' ? message.replaceAll(/\s+/g, ' ') : undefined;
}
