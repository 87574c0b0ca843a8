import { join } from 'node:path';
import { writeKubeconfig } from '../../../src/api-server/kubeconfig/index.js';
import { failingChecks, leads } from '../../../src/app/supervisor/replica-probe.js';
import { ApiFaultProxy } from '../api-fault-proxy.js';
import { TcpProxy } from '../tcp-proxy.js';
import { ManagedProcess } from './managed-process.js';

const instrument = (name: string): string => join(import.meta.dirname, '..', 'instruments', name);

export interface ReplicaPlace {
  readonly index: number;
  readonly dataDir: string;
  readonly dist: string;
  readonly token: string;
  /** With its password. */
  readonly redisUrl: string;
  readonly apiPort: number;
  readonly random: () => number;
  readonly args: readonly string[];
  /** `none`: no proxies and no journal; what is measured then is the replica, not the harness. */
  readonly links: 'all' | 'none';
}

/** One controller replica with its own links to Redis and to the API. */
export class ChaosReplica {
  readonly name: string;
  readonly redisLink: TcpProxy;
  readonly apiLink: TcpProxy;
  readonly apiAnswers: ApiFaultProxy;
  private running: ManagedProcess | undefined;

  constructor(private readonly place: ReplicaPlace) {
    this.name = `controller-${place.index}`;
    this.redisLink = new TcpProxy({ port: Number(new URL(place.redisUrl).port) });
    this.apiAnswers = new ApiFaultProxy({ port: place.apiPort }, place.random);
    // Its port is known once the proxy behind it listens.
    this.apiLink = new TcpProxy({ port: 0 });
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
    this.running = new ManagedProcess({
      name: this.name,
      // Out of its single modules, which the instruments reach into.
      main: join(dist, 'main-modules.js'),
      args: ['controller', ...['--kubeconfig', kubeconfig], ...['--identity', this.name], ...args],
      execArgv: ['--import', instrument(links === 'all' ? 'preload.mjs' : 'slow-api.mjs')],
      env: { CHAOS_DIST: dist, CHAOS_JOURNAL: this.journalFile, REDIS_URL: redisUrl },
      logFile: join(dataDir, `${this.name}.log`),
    });
    await this.running.start();
  }

  private async startLinks(): Promise<{ apiPort: number; redisUrl: string }> {
    const redisUrl = new URL(this.place.redisUrl);
    redisUrl.port = String(await this.redisLink.start());
    this.apiLink.retarget(await this.apiAnswers.start());
    return { redisUrl: redisUrl.href, apiPort: await this.apiLink.start() };
  }

  async stop(): Promise<void> {
    await this.running?.stop();
    for (const proxy of [this.redisLink, this.apiLink, this.apiAnswers]) proxy.stop();
  }

  leads(): Promise<boolean> {
    return this.process.isReady ? leads({ adminUrl: this.process.adminUrl }) : Promise.resolve(false);
  }

  async isReady(): Promise<boolean> {
    return this.process.isReady && (await failingChecks({ adminUrl: this.process.adminUrl }))?.length === 0;
  }
}
