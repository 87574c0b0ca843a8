import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Clock } from '@rollkeeper/machinery/clock';
import { StartupError, TimeoutError, errorMessage } from '@rollkeeper/machinery/errors';
import { listeningAddress } from '@rollkeeper/machinery/listening';
import type { HealthCheck, HealthRegistry } from '../../health/index.js';
import type { Metrics } from '../../telemetry/index.js';

/** The address at which probes and metrics are served. */
export interface ProbeServerOptions {
  /** 0 lets the system choose. */
  readonly port: number;
  /** `0.0.0.0` for the probes of a kubelet. @default '127.0.0.1' */
  readonly host?: string;
}

interface ProbedParts {
  readonly health: HealthRegistry;
  readonly metrics: Pick<Metrics, 'serialize'>;
  readonly clock: Clock;
}

interface CheckResult {
  readonly name: string;
  readonly problem?: string;
  /** A note of a healthy check. */
  readonly note?: string;
}

/** A check without an answer after this time counts as failed. */
const CHECK_TIMEOUT_MS = 1500;

/**
 * `/livez`, `/readyz` and `/healthz` as in Kubernetes (`?verbose`, `?exclude=NAME`), and `/metrics` for Prometheus:
 * plain HTTP, read-only, without names of objects. `?verbose` shows why a check fails.
 */
export class ProbeServer {
  private readonly server: Server;

  constructor(
    private readonly options: ProbeServerOptions,
    private readonly parts: ProbedParts,
  ) {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  /** @throws StartupError if the address cannot be bound */
  async listen(): Promise<string> {
    const { host = '127.0.0.1', port } = this.options;
    const { promise, reject, resolve } = Promise.withResolvers<void>();
    this.server.once('error', reject);
    this.server.listen(port, host, resolve);
    try {
      await promise;
    } catch (error) {
      throw new StartupError(`cannot serve probes on ${host}:${port}: ${errorMessage(error)}`, {
        cause: error,
      });
    }
    const { address, family, port: bound } = listeningAddress(this.server);
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const { body, status, type } = await this.bodyOf(request);
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    } catch (error) {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`${errorMessage(error)}\n`);
    }
  }

  private async bodyOf({ method, url = '/' }: IncomingMessage) {
    const { pathname, searchParams } = new URL(url, 'http://probes');
    const { health, metrics } = this.parts;
    const text = (status: number, body: string) => ({ status, body, type: 'text/plain; charset=utf-8' });
    if (method !== 'GET' && method !== 'HEAD') return text(405, 'only GET\n');
    if (pathname === '/metrics')
      return {
        status: 200,
        body: await metrics.serialize(),
        type: 'text/plain; version=0.0.4; charset=utf-8',
      };
    const checks = checksOf(health, pathname);
    if (!checks) return text(404, 'livez, readyz, healthz and metrics are here\n');
    const excluded = new Set(searchParams.getAll('exclude'));
    const results = await Promise.all(
      checks.filter(({ name }) => !excluded.has(name)).map((check) => this.attempt(check)),
    );
    const isWell = results.every(({ problem }) => problem === undefined);
    const lines = results.map(({ name, note, problem }) => {
      if (problem !== undefined) return `[-]${name} failed: ${problem}`;
      return note === undefined ? `[+]${name} ok` : `[+]${name} ok: ${note}`;
    });
    const verdict = `${pathname.slice(1)} check ${isWell ? 'passed' : 'failed'}`;
    const failing = results
      .filter(({ problem }) => problem !== undefined)
      .map(({ name }) => `[-]${name} failed`);
    const verbose = searchParams.has('verbose');
    if (isWell && !verbose) return text(200, 'ok\n');
    return text(isWell ? 200 : 503, [...(verbose ? lines : failing), verdict, ''].join('\n'));
  }

  private async attempt(check: HealthCheck): Promise<CheckResult> {
    const { clock } = this.parts;
    const late = Promise.withResolvers<never>();
    const timer = clock.setTimeout(
      () => late.reject(new TimeoutError('no answer in time')),
      CHECK_TIMEOUT_MS,
    );
    try {
      const note = await Promise.race([(async () => check.check())(), late.promise]);
      return { name: check.name, ...(typeof note === 'string' && { note }) };
    } catch (error) {
      return { name: check.name, problem: errorMessage(error) };
    } finally {
      timer.cancel();
    }
  }
}

function checksOf(health: HealthRegistry, path: string): readonly HealthCheck[] | undefined {
  if (path === '/healthz') return health.all();
  if (path === '/livez' || path === '/readyz') return health.of(path === '/livez' ? 'livez' : 'readyz');
  return undefined;
}
