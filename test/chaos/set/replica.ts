import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeKubeconfig } from '../../../src/apiserver/server/write-kubeconfig.js';
import { askStatus, failingChecks } from '../../../src/rollkeeper/replica/supervisor/replica-probe.js';
import type { ReplicaStatus } from '../../../src/rollkeeper/admin/server/index.js';
import { TcpLink } from '../../support/tcp-link.js';
import type { ManagedProcessOptions } from './managed-process.js';
import { ManagedProcess } from './managed-process.js';
import { ReplicaAnswers } from './replica-answers.js';

const instrument = (name: string): string => join(import.meta.dirname, '..', 'instruments', name);

export interface ReplicaPlace {
  readonly index: number;
  readonly dataDir: string;
  readonly dist: string;
  readonly token: string;
  /** With its password. Undefined: the replicas share a Lease, and no Redis. */
  readonly redisUrl: string | undefined;
  readonly apiPort: number;
  readonly random: () => number;
  readonly args: readonly string[];
  /** `none`: no proxies and no journal; what is measured then is the replica, not the harness. */
  readonly links: 'all' | 'none';
}

/** One controller replica with its own links to Redis and to the API. */
export class ChaosReplica {
  readonly name: string;
  readonly redisLink: TcpLink;
  readonly apiLink: TcpLink;
  readonly apiAnswers: ReplicaAnswers;
  private running: ManagedProcess | undefined;
  /** The address of Redis: direct, or that of its link. */
  private redisUrl: string | undefined;

  constructor(private readonly place: ReplicaPlace) {
    this.name = `controller-${place.index}`;
    // Its port is known when it is one server; others are found by clients themselves, past any proxy.
    this.redisLink = new TcpLink({
      port: isOneServer(place.redisUrl) ? Number(new URL(place.redisUrl).port) : 0,
    });
    this.apiAnswers = new ReplicaAnswers({ port: place.apiPort }, place.random);
    // Its port is known once the proxy behind it listens.
    this.apiLink = new TcpLink({ port: 0 });
  }

  get process(): ManagedProcess {
    if (!this.running) throw new Error(`${this.name} was not started`);
    return this.running;
  }

  get journalFile(): string {
    return join(this.place.dataDir, `${this.name}.journal`);
  }

  async start(): Promise<void> {
    const { args, dataDir, dist, links, token } = this.place;
    const { apiPort, redisUrl } = links === 'all' ? await this.startLinks() : this.place;
    const kubeconfig = join(dataDir, `${this.name}.kubeconfig`);
    await writeKubeconfig({ path: kubeconfig, server: `http://127.0.0.1:${apiPort}`, token });
    this.redisUrl = redisUrl;
    const coordination = redisUrl === undefined ? ['--coordination', 'leases'] : [];
    this.running = new ManagedProcess({
      name: this.name,
      args: ['controller', '--kubeconfig', kubeconfig, '--identity', this.name, ...coordination, ...args],
      execArgv: ['--import', instrument(links === 'all' ? 'preload.mjs' : 'slow-api.mjs')],
      ...this.program(dist),
      logFile: join(dataDir, `${this.name}.log`),
    });
    await this.running.start();
  }

  /** Puts another version in its place. @param dist the folder of its program */
  replaceBy(dist: string): Promise<void> {
    return this.process.replace(this.program(dist));
  }

  private program(dist: string): Pick<ManagedProcessOptions, 'main' | 'env'> {
    const place = this.redisUrl === undefined ? { CHAOS_LEASES: '1' } : { REDIS_URL: this.redisUrl };
    const env = { CHAOS_DIST: dist, CHAOS_JOURNAL: this.journalFile, ...place };
    // Out of its single modules, into which the instruments reach; older versions had nothing else.
    const modules = join(dist, 'main-modules.js');
    return { main: existsSync(modules) ? modules : join(dist, 'main.js'), env };
  }

  private async startLinks(): Promise<Pick<ReplicaPlace, 'apiPort' | 'redisUrl'>> {
    this.apiLink.retarget(await this.apiAnswers.start());
    return { redisUrl: await this.startRedisLink(), apiPort: await this.apiLink.start() };
  }

  private async startRedisLink(): Promise<string | undefined> {
    if (!isOneServer(this.place.redisUrl)) return this.place.redisUrl;
    const redisUrl = new URL(this.place.redisUrl);
    redisUrl.port = String(await this.redisLink.start());
    return redisUrl.href;
  }

  async stop(): Promise<void> {
    await this.running?.stop();
    for (const link of [this.redisLink, this.apiLink]) link.stop();
    await this.apiAnswers.stop();
  }

  async leads(): Promise<boolean> {
    return (await this.status())?.leader ?? false;
  }

  /** Whether it leads, and of how many slots it has copies: its timers and memory at rest follow from both. */
  async role(): Promise<string> {
    const { leader = false, slots } = (await this.status()) ?? {};
    const copies = slots ? slots.owned + slots.standby : 0;
    return `${leader ? 'leads' : 'follows'}, with copies of ${copies} slots`;
  }

  private async status(): Promise<ReplicaStatus | undefined> {
    if (!this.process.isReady) return undefined;
    return askStatus({ adminUrl: this.process.adminUrl });
  }

  async isReady(): Promise<boolean> {
    return this.process.isReady && (await failingChecks({ adminUrl: this.process.adminUrl }))?.length === 0;
  }
}

const isOneServer = (redisUrl: string | undefined): redisUrl is string =>
  redisUrl?.startsWith('redis://') ?? false;
