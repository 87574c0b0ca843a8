import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpApiClient } from '../../../src/client/api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../../../src/client/api-client/index.js';
import { writeKubeconfig } from '../../../src/apiserver/server/write-kubeconfig.js';
import { SystemClock } from '../../../src/machinery/clock/index.js';
import { Lease } from '../../../src/machinery/kubernetes/index.js';
import type { RedisConnection } from '../../../src/redis/connection/index.js';
import { createRedisConnection } from '../../../src/redis/connection/index.js';
import { silentLogger } from '../../../src/machinery/logging/index.js';
import type { RedisProcess } from '../../../src/rollkeeper/replica/supervisor/redis-process.js';
import { startRedis } from '../../../src/rollkeeper/replica/supervisor/redis-process.js';
import type { ReplicatedTopology } from '../../support/redis-topologies.js';
import { startRedisCluster, startSentinelTrio } from '../../support/redis-topologies.js';
import { freePort } from '../../../src/machinery/listening.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import { ManagedProcess } from './managed-process.js';
import { ChaosReplica } from './replica.js';

/**
 * The Redis that the replicas share. If it can fail over, the API server's objects are on a server of their own,
 * because a failover must not lose writes that the API has confirmed.
 */
export const REDIS_KINDS = ['single', 'sentinel', 'cluster'] as const;
export type RedisKind = (typeof REDIS_KINDS)[number];

const TOPOLOGIES: Readonly<Record<RedisKind, () => Promise<ReplicatedTopology | undefined>>> = {
  single: async () => undefined,
  sentinel: startSentinelTrio,
  cluster: () => startRedisCluster({ replicated: true }),
};

/** How the replicas share their work: by that Redis, or by a Lease in the API, and then only its holder works. */
export const COORDINATIONS = ['redis', 'leases'] as const;
export type ChaosCoordination = (typeof COORDINATIONS)[number];

export interface ChaosSetOptions {
  /** The built program's folder. */
  readonly dist: string;
  readonly replicas: number;
  readonly random: () => number;
  /** More arguments of `rollkeeper controller`, of all replicas or of each. */
  readonly controllerArgs?: readonly string[] | ((index: number) => readonly string[]);
  /** Called before a replica is started, whose proxies may be told what to do. */
  readonly prepare?: (replica: ChaosReplica) => void;
  /** The links between the replicas and the rest that can be cut. @default 'all' */
  readonly links?: 'all' | 'none';
  /** @default 'single' */
  readonly redis?: RedisKind;
  /** With `leases` the Redis is the API server's alone. @default 'redis' */
  readonly coordination?: ChaosCoordination;
  /** Schedulers, as processes of their own. @default the simulated nodes' process schedules */
  readonly schedulers?: number;
  /** Over which the replicas spread namespaces; the arguments have to say so as well. @default 0 */
  readonly slots?: number;
}

/** The first two nodes take few pods, so that a scheduler has something to keep; the last takes the rest. */
const NODES = { count: 3, small: 2, podsOfSmall: 40 };
const SCHEDULER_LEASE = { namespace: 'kube-system', name: 'rollkeeper-scheduler' };

/** Everything that `rollkeeper up` starts, as processes of our own, with proxies in between. */
export class ChaosSet {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'rollkeeper-chaos-'));
  readonly replicas: ChaosReplica[] = [];
  readonly schedulers: ManagedProcess[] = [];
  private redisProcess: RedisProcess | undefined;
  private api: ManagedProcess | undefined;
  private node: ManagedProcess | undefined;
  private directClient: HttpApiClient | undefined;
  private directRedis: RedisConnection | undefined;
  private replicated: ReplicatedTopology | undefined;
  private failovers: Promise<void> = Promise.resolve();

  private constructor(private readonly options: ChaosSetOptions) {}

  static async start(options: ChaosSetOptions): Promise<ChaosSet> {
    const set = new ChaosSet(options);
    try {
      await set.startAll();
      return set;
    } catch (error) {
      await set.stop();
      throw error;
    }
  }

  /** Straight to the API server, past every proxy. */
  get client(): HttpApiClient {
    return mustExist(this.directClient);
  }

  /** Straight to the Redis that the replicas share, past every proxy. */
  get redis(): RedisConnection {
    return mustExist(this.directRedis);
  }

  /**
   * Ends the server that takes writes, and brings it back as a replica of its successor `outMs` later. Failovers
   * follow each other: with two masters away at once there are too few servers to elect successors.
   * @throws Error if there is one server alone
   */
  failOver(outMs: number, began: () => void): Promise<void> {
    const topology = mustExist(this.replicated);
    const next = this.failovers.then(async () => {
      began();
      await topology.failOver();
      await pause(outMs);
      await topology.repair();
    });
    this.failovers = next.catch(() => undefined);
    return next;
  }

  /** Whether what the shared Redis has confirmed may be lost: it is copied to replicas afterwards. */
  get redisLosesWrites(): boolean {
    return this.replicated !== undefined;
  }

  get coordination(): ChaosCoordination {
    return this.options.coordination ?? 'redis';
  }

  /** 0: there are none, and every replica sees everything. */
  get slots(): number {
    return this.options.slots ?? 0;
  }

  /** The Redis server that holds the API server's objects. */
  get redisServer(): RedisProcess {
    return mustExist(this.redisProcess);
  }

  get apiServer(): ManagedProcess {
    return mustExist(this.api);
  }

  get nodes(): ManagedProcess {
    return mustExist(this.node);
  }

  async leader(): Promise<ChaosReplica | undefined> {
    const leading = await Promise.all(this.replicas.map((replica) => replica.leads()));
    return this.replicas.find((_, index) => leading[index]);
  }

  async followers(): Promise<ChaosReplica[]> {
    const leader = await this.leader();
    return this.replicas.filter((replica) => replica !== leader && replica.process.isReady);
  }

  /** The scheduler that schedules; undefined while none does. */
  async leadingScheduler(): Promise<ManagedProcess | undefined> {
    const lease = await this.client.get<Lease>(Lease, SCHEDULER_LEASE).catch(() => undefined);
    return this.schedulers.find(({ name }) => name === lease?.spec?.holderIdentity);
  }

  /** Every replica ready, and one of them leading. */
  async untilSettled(timeoutMs = 60_000): Promise<void> {
    await waitFor(
      async () =>
        (await Promise.all(this.replicas.map((replica) => replica.isReady()))).every(Boolean) &&
        (await this.leader()) !== undefined,
      { timeoutMs, intervalMs: 50, what: 'all replicas to be ready and one to lead' },
    );
  }

  /** Puts another version in the place of the API server and the simulated nodes. @param dist the folder of its program */
  async replaceServersBy(dist: string): Promise<void> {
    const program = { main: join(dist, 'main.js') };
    await mustExist(this.node).replace(program);
    await this.apiServer.replace(program);
  }

  /** Lifts what any fault may have left behind. */
  heal(): void {
    for (const scheduler of this.schedulers) scheduler.signal('SIGCONT');
    for (const { apiAnswers, apiLink, process, redisLink } of this.replicas) {
      for (const proxy of [redisLink, apiLink, apiAnswers]) proxy.heal();
      process.signal('SIGCONT');
      process.send({ chaos: 'step', ms: 0 });
    }
  }

  async stop(): Promise<void> {
    await this.directClient?.close();
    this.directRedis?.disconnect();
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    await Promise.all(this.schedulers.map((scheduler) => scheduler.stop()));
    await this.node?.stop();
    await this.api?.stop();
    await this.redisProcess?.stop();
    await this.replicated?.stop();
  }

  remove(): void {
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  private async startAll(): Promise<void> {
    const { dataDir } = this;
    const { controllerArgs = [], dist, links = 'all', prepare, random, redis = 'single' } = this.options;
    const { schedulers = 0 } = this.options;
    mkdirSync(join(dataDir, 'redis'), { recursive: true });
    const clock = new SystemClock();
    this.redisProcess = await startRedis({
      dataDir,
      logFd: openSync(join(dataDir, 'redis.log'), 'a'),
      clock,
      logger: silentLogger,
      onLaunch: () => undefined,
    });
    this.replicated = await TOPOLOGIES[redis]();
    const { url: redisUrl } = this.replicated ?? this.redisProcess;
    const apiPort = await freePort();
    await this.startApiServer(apiPort);
    const token = readFileSync(join(dataDir, 'token'), 'utf8').trim();
    const kubeconfig = join(dataDir, 'kubeconfig');
    await writeKubeconfig({ path: kubeconfig, server: `http://127.0.0.1:${apiPort}`, token });
    const connection = await loadKubeconfig({ path: kubeconfig, clock });
    this.directClient = createHttpApiClient({ connection, clock, logger: silentLogger, userAgent: 'chaos' });
    this.directRedis = createRedisConnection({ url: redisUrl, connectionName: 'chaos', mode: 'blocking' });
    const nodeArgs = ['node', '--nodes', String(NODES.count), '--kubeconfig', kubeconfig];
    this.node = this.processOf('node', schedulers === 0 ? nodeArgs : [...nodeArgs, ...this.smallNodes()]);
    for (let index = 0; index < schedulers; index++) {
      const name = `scheduler-${index}`;
      this.schedulers.push(
        this.processOf(name, ['scheduler', '--kubeconfig', kubeconfig, '--identity', name]),
      );
    }
    const shared = this.coordination === 'redis' ? redisUrl : undefined;
    const place = { dataDir, dist, token, redisUrl: shared, apiPort, random, links };
    const argsOf = typeof controllerArgs === 'function' ? controllerArgs : () => controllerArgs;
    for (let index = 0; index < this.options.replicas; index++) {
      const replica = new ChaosReplica({ ...place, args: argsOf(index), index });
      prepare?.(replica);
      this.replicas.push(replica);
    }
    await Promise.all([this.node, ...this.schedulers, ...this.replicas].map((part) => part.start()));
    await this.untilSettled();
  }

  private processOf(name: string, args: readonly string[]): ManagedProcess {
    const { dataDir } = this;
    const main = join(this.options.dist, 'main.js');
    return new ManagedProcess({ name, main, args, logFile: join(dataDir, `${name}.log`) });
  }

  /** Flags of the simulated nodes' process beside schedulers of their own. */
  private smallNodes(): string[] {
    const file = join(this.dataDir, 'node-profiles.json');
    writeFileSync(file, JSON.stringify([{ count: NODES.small, capacity: { pods: NODES.podsOfSmall } }]));
    return ['--scheduler=false', '--node-profiles', file];
  }

  private async startApiServer(port: number): Promise<void> {
    const { dataDir, redisProcess } = this;
    const flags = ['--port', String(port), '--data-dir', dataDir, '--redis-url', redisProcess?.url ?? ''];
    this.api = new ManagedProcess({
      name: 'apiserver',
      main: join(this.options.dist, 'main.js'),
      args: ['apiserver', ...flags, '--insecure'],
      logFile: join(dataDir, 'apiserver.log'),
    });
    await this.api.start();
  }
}

function mustExist<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the set was not started');
  return value;
}
