import { join } from 'node:path';
import type { HttpApiClient } from '@rollkeeper/client/api-client';
import { bearerToken, createHttpApiClient } from '@rollkeeper/client/api-client';
import { VERSION } from '@rollkeeper/machinery/version';
import { makeAccessFolder, removeAccessFolder, writeAccess } from '../cluster/cluster-access.js';
import type { ClusterAccess } from '../cluster/cluster-access.js';
import { FaultLog } from './fault-log.js';
import { FaultPlan } from './fault-plan.js';
import { FaultProxy } from './fault-proxy.js';
import type { Faults } from './faults.js';
import type { CompiledFaultsOptions, FaultRates, FaultsOptions } from './faults.options.js';
import { compileFaultRates, compileFaultsOptions } from './faults.options.js';
import { LosableLocks } from './losable-locks.js';
import { PlannedDecisions } from './planned-decisions.js';
import { SteppedClock } from './stepped-clock.js';
import { TakenLeases } from './taken-leases.js';
import type { Held, WatchMatch } from './watch-gates.js';
import { WatchGates } from './watch-gates.js';

/**
 * The address of the server, and the identity of the clients: a test cluster, one of its users, or any other server.
 */
export type FaultsTarget = Pick<ClusterAccess, 'url' | 'ca' | 'token'>;

/**
 * Starts a proxy between clients and an API server, on a port of its own.
 * @throws InvalidOptionError naming the option
 */
export async function startFaults(target: FaultsTarget, options?: FaultsOptions): Promise<Faults> {
  const faults = new RunningFaults(target, compileFaultsOptions(options));
  try {
    await faults.start();
    return faults;
  } catch (error) {
    await faults.stop().catch(() => undefined);
    throw error;
  }
}

class RunningFaults implements Faults {
  readonly clock: SteppedClock;
  private readonly plan: FaultPlan;
  private readonly gates = new WatchGates();
  private readonly locks = new LosableLocks();
  private readonly notes: FaultLog;
  private readonly proxy: FaultProxy;
  private readonly leases: TakenLeases;
  /** Past the faults. */
  private readonly direct: HttpApiClient;
  private through: HttpApiClient | undefined;
  private access!: ClusterAccess;
  private folder: string | undefined;
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly target: FaultsTarget,
    private readonly options: CompiledFaultsOptions,
  ) {
    const { clock, logger, port, watchDelayMs } = options;
    this.clock = new SteppedClock(clock);
    this.plan = new FaultPlan(options);
    this.notes = new FaultLog(clock, logger);
    const { gates, notes: log, plan } = this;
    const { ca, url } = target;
    const decisions = new PlannedDecisions({ plan, gates, log, watchDelayMs });
    this.proxy = new FaultProxy({ url, ca, port, tls: true, decisions, clock, logger });
    this.direct = this.connect(target);
    this.leases = new TakenLeases(this.direct, clock);
  }

  async start(): Promise<void> {
    const { logger, seed } = this.options;
    logger.info('faults are between the client and its server', { seed });
    const { ca, url } = await this.proxy.start();
    this.folder = await makeAccessFolder();
    this.access = await writeAccess({ url, ca, token: this.target.token }, join(this.folder, 'kubeconfig'));
    this.through = this.connect(this.access);
  }

  get seed(): number {
    return this.options.seed;
  }

  get url(): string {
    return this.access.url;
  }

  get ca(): string {
    return this.access.ca;
  }

  get token(): string {
    return this.access.token;
  }

  get kubeconfig(): ClusterAccess['kubeconfig'] {
    return this.access.kubeconfig;
  }

  get env(): Faults['env'] {
    return { KUBECONFIG: this.access.kubeconfig.path };
  }

  get client(): HttpApiClient {
    return this.through!;
  }

  get log(): Faults['log'] {
    return this.notes.records;
  }

  readonly failNext: Faults['failNext'] = (next) => this.plan.failNext(next);

  setRates(rates: FaultRates): void {
    this.plan.setRates(compileFaultRates(rates));
  }

  cutWatches(match: WatchMatch = {}): number {
    return this.toWatches('cut', match, (watch) => watch.cut());
  }

  expireWatches(match: WatchMatch = {}): number {
    return this.toWatches('gone', match, (watch) => watch.endAsGone());
  }

  silenceWatches(match: WatchMatch = {}): number {
    return this.toWatches('silent', match, (watch) => watch.silence());
  }

  holdWatches(match: WatchMatch = {}): Held {
    this.notes.note('watches held', watchText(match));
    return this.gates.hold(match);
  }

  delayWatches({ delayMs, ...match }: WatchMatch & { readonly delayMs: number }): Held {
    this.notes.note(`watches late by ${delayMs} ms`, watchText(match));
    return this.gates.delay(match, delayMs);
  }

  readonly takeLease: Faults['takeLease'] = async (lease) => {
    const taken = await this.leases.take(lease);
    this.notes.note('lease taken', `leases/${lease.name} in ${lease.namespace ?? 'default'}`);
    return taken;
  };

  readonly coordination: Faults['coordination'] = (inner) => this.locks.around(inner);

  loseLocks: Faults['loseLocks'] = (match = {}) => {
    const lost = this.locks.lose(match);
    for (const sync of lost) this.notes.note('lock lost', sync);
    return lost;
  };

  stepClock(ms: number): void {
    this.notes.note('clock stepped', `${ms} ms`);
    this.clock.step(ms);
  }

  async heal(): Promise<void> {
    this.plan.clear();
    this.setRates({});
    this.gates.clear();
    this.proxy.heal();
    await this.leases.releaseAll();
  }

  stop(): Promise<void> {
    this.stopping ??= this.stopAll();
    return this.stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  private toWatches(
    fault: string,
    match: WatchMatch,
    make: (watch: ReturnType<FaultProxy['watchesOf']>[number]) => void,
  ): number {
    const watches = this.proxy.watchesOf(match);
    for (const watch of watches) {
      this.notes.note(`watch ${fault}`, watch.request);
      make(watch);
    }
    return watches.length;
  }

  private connect({ ca, token, url }: FaultsTarget): HttpApiClient {
    const connection = { serverUrl: url, tls: { ca }, credentials: bearerToken(token), source: 'faults' };
    const { clock, logger } = this.options;
    return createHttpApiClient({ connection, userAgent: `rollkeeper/${VERSION} (faults)`, clock, logger });
  }

  private async stopAll(): Promise<void> {
    try {
      // A server that has stopped before has no leases to give back.
      await this.heal().catch((error: unknown) => this.options.logger.debug('not healed', { error }));
    } finally {
      await this.through?.close();
      await this.direct.close();
      await this.proxy.stop();
      if (this.folder !== undefined) await removeAccessFolder(this.folder);
    }
  }
}

function watchText({ namespace, resource = 'everything' }: WatchMatch): string {
  return `watch ${resource}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
