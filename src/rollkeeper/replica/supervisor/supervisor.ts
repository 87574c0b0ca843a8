import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { writeKubeconfig } from '@rollkeeper/apiserver/write-kubeconfig';
import type { Clock } from '@rollkeeper/machinery/clock';
import { doublingDelayMs } from '@rollkeeper/machinery/clock';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import type { DataFolder } from '@rollkeeper/machinery/files';
import { claimDataFolder, makeFolder, openOwnLog } from '@rollkeeper/machinery/files';
import type { Logger } from '@rollkeeper/machinery/logging';
import { withMemoryDefaults } from '@rollkeeper/machinery/process';
import { describeRedis } from '@rollkeeper/redis/connection';
import { portForConsole, rememberConsolePort } from './console-port.js';
import { ANY_PORT, adminPortAgain } from './admin-port.js';
import { freePort } from '@rollkeeper/machinery/listening';
import type { RedisProcess } from './redis-process.js';
import { endFormerRedis, startRedis, useRedis } from './redis-process.js';
import type { RunState } from './run-state.js';
import { isAlive, kubeconfigIn, readRunState, removeRunState, writeRunState } from './run-state.js';
import { adminTokenFile, ensureAdminToken, readAdminToken, readCredentials } from './credentials.js';
import {
  apiServerArguments,
  nodeArguments,
  replicaArguments,
  schedulerArguments,
} from './process-arguments.js';
import { askSignInLink } from './replica-probe.js';
import type { Started } from './wait-until-ready.js';
import { waitUntilReady } from './wait-until-ready.js';
import type { ReadyMessage, SupervisedProcessOptions } from './supervised-process.js';
import { SupervisedProcess } from './supervised-process.js';
import type { CompiledUpOptions } from './up.options.js';

export interface SupervisorOptions {
  readonly up: CompiledUpOptions;
  /** The program's own entry file, for the children. */
  readonly main: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly logger: Logger;
}

const API_POLL_MS = 50;
/** Delay between attempts to start the simulated nodes, and the scheduler. */
const NODES_PAUSE = { firstMs: 1000, longestMs: 10_000 };

/** The lines to show the user once everything is up. */
export interface UpSummary {
  readonly apiServerUrl: string;
  readonly kubeconfig: string;
  readonly consoleUrl: string;
  /** Opens the console and signs in, once and soon. Absent: the replica did not make one. */
  readonly signInLink?: string;
  readonly replicas: number;
  readonly nodes: number;
}

/**
 * The all-in-one for one machine: Redis, API server, simulated nodes and controller replicas, each a separate OS
 * process that is restarted when it dies. Starts them in the order of their dependencies and stops them in reverse
 * order.
 */
export class Supervisor {
  private readonly children: SupervisedProcess[] = [];
  private readonly logFds: number[] = [];
  private folder: DataFolder = { isShared: true };
  private redis: RedisProcess | undefined;
  private apiServer: SupervisedProcess | undefined;
  private state: RunState = { version: 1, supervisorPid: process.pid, replicas: [] };
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly options: SupervisorOptions) {}

  /**
   * Starts everything. On failure, or if aborted in the meantime, what was started is stopped again.
   * @throws StartupError with one line that says what is wrong
   */
  async start(signal: AbortSignal): Promise<UpSummary> {
    try {
      return await this.bringUp(signal);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Stops everything in reverse order of the start. Stored data is kept. */
  async stop(): Promise<void> {
    const replicas = this.children.filter((child) => child.name.startsWith('controller-'));
    const others = this.children.filter((child) => !replicas.includes(child)).toReversed();
    await Promise.all(replicas.map((replica) => replica.stop()));
    for (const child of others) await child.stop();
    await this.redis?.stop();
    await this.writing;
    if (this.redis || this.children.length > 0) await removeRunState(this.options.up['data-dir']);
    for (const fd of this.logFds.splice(0)) closeSync(fd);
  }

  private async bringUp(signal: AbortSignal): Promise<UpSummary> {
    const { up } = this.options;
    const dataDir = up['data-dir'];
    const former = await this.claimDataDir();
    this.redis = await this.bringUpRedis(former);
    signal.throwIfAborted();
    const apiServerUrl = await this.startApiServer();
    signal.throwIfAborted();
    const kubeconfig = kubeconfigIn(dataDir);
    await writeKubeconfig({ path: kubeconfig, server: apiServerUrl, ...(await readCredentials(dataDir)) });
    await ensureAdminToken(dataDir);
    const consolePort = await portForConsole(up, this.options.logger);
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const starts = Promise.all([
      this.startNodes(kubeconfig, until),
      this.startScheduler(kubeconfig, until),
      ...Array.from({ length: up.replicas }, (_, index) =>
        this.startReplica({ index, consolePort }, kubeconfig, until),
      ),
    ]).catch((error: unknown) => {
      over.abort(error);
      throw error;
    });
    await Promise.all([starts, this.waitUntilReady(await readAdminToken(dataDir), until)]);
    return {
      apiServerUrl,
      kubeconfig,
      ...(await this.consoleLinks()),
      replicas: up.replicas,
      nodes: up.nodes,
    };
  }

  private async consoleLinks(): Promise<Pick<UpSummary, 'consoleUrl' | 'signInLink'>> {
    const dataDir = this.options.up['data-dir'];
    const [first] = this.state.replicas;
    const consoleUrl = `${first?.adminUrl ?? ''}/console`;
    if (!first) return { consoleUrl };
    await rememberConsolePort(dataDir, first.adminUrl);
    const signInLink = await askSignInLink(first, await readAdminToken(dataDir));
    return { consoleUrl, ...(signInLink !== undefined && { signInLink }) };
  }

  private waitUntilReady(token: string | undefined, signal: AbortSignal): Promise<void> {
    const { clock, logger, up } = this.options;
    return waitUntilReady(() => this.started(), {
      clock,
      signal,
      token,
      onWait: (whatFor) => logger.warn(`still waiting; ${whatFor}`, { logs: join(up['data-dir'], 'logs') }),
    });
  }

  private async claimDataDir(): Promise<RunState | undefined> {
    const dataDir = this.options.up['data-dir'];
    try {
      this.folder = await claimDataFolder(dataDir);
      if (this.folder.isShared)
        this.options.logger.warn(
          'other users may look into the data folder: the admin port asks for its token on this machine too',
          {
            dataDir,
            tokenFile: adminTokenFile(dataDir),
          },
        );
      await makeFolder(join(dataDir, 'logs'), { mode: 0o700 });
      const former = await readRunState(dataDir);
      if (former && former.supervisorPid !== process.pid && isAlive(former.supervisorPid)) {
        throw new StartupError(
          `already running from ${dataDir} (process ${former.supervisorPid}); stop it first, or use another --data-dir`,
        );
      }
      // Until ours runs, remember a Redis that a killed run may have left behind, in case this start fails.
      this.state = { ...this.state, redis: former?.redis };
      await writeRunState(dataDir, this.state);
      return former;
    } catch (error) {
      if (error instanceof StartupError) throw error;
      throw new StartupError(`cannot use the data folder ${dataDir}: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }

  private async bringUpRedis(former: RunState | undefined): Promise<RedisProcess> {
    const { clock, logger, up } = this.options;
    const url = up['redis-url'];
    const place = { dataDir: up['data-dir'], clock, former: former?.redis };
    if (url !== undefined) {
      await endFormerRedis(place);
      const redis = await useRedis(url, clock);
      this.update({ redis: { url: describeRedis(redis.url) } });
      return redis;
    }
    return startRedis({
      ...place,
      logFd: this.openLog('redis'),
      logger,
      onLaunch: (redis) => this.update({ redis }),
    });
  }

  private async startApiServer(): Promise<string> {
    const { up } = this.options;
    // Fixed from now on: clients must find a restarted server at the same address.
    const port = up.port === 0 ? await freePort() : up.port;
    const args = [...apiServerArguments(up, port)];
    this.apiServer = this.makeChild(
      'apiserver',
      () => args,
      (pid, { url }) => this.update({ apiServer: pid ? { pid, url } : undefined }),
    );
    const ready = await this.apiServer.start();
    if (!ready.url) throw new StartupError('the API server did not say where it listens');
    return ready.url;
  }

  private async startNodes(kubeconfig: string, signal: AbortSignal): Promise<void> {
    const { up } = this.options;
    if (up.nodes === 0) return;
    const args = [...nodeArguments(up, kubeconfig)];
    const child = this.makeChild(
      'node',
      () => args,
      (pid) => this.update({ nodes: pid ? { pid } : undefined }),
    );
    await this.startOnApiForSure(child, 'the simulated nodes', kubeconfig, signal);
  }

  private async startScheduler(kubeconfig: string, signal: AbortSignal): Promise<void> {
    if (this.options.up.scheduler !== 'process') return;
    const args = [...schedulerArguments(this.options.up, kubeconfig)];
    const child = this.makeChild(
      'scheduler',
      () => args,
      (pid) => this.update({ scheduler: pid ? { pid } : undefined }),
    );
    await this.startOnApiForSure(child, 'the scheduler', kubeconfig, signal);
  }

  /**
   * Retried: a webhook or policy may refuse the first writes, and it can only be fixed through the running API server. Failing
   * here would stop that server, at each start.
   */
  private async startOnApiForSure(
    child: SupervisedProcess,
    what: string,
    kubeconfig: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, logger } = this.options;
    for (let failures = 0; ; failures++) {
      const delayMs = doublingDelayMs(failures, NODES_PAUSE);
      try {
        await this.startOnApi(child, signal);
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        const facts = { error: errorMessage(error), delayMs, kubeconfig };
        logger.warn(`${what} could not start; trying again while the API server runs`, facts);
      }
      await clock.sleep(delayMs, signal);
    }
  }

  private async startReplica(
    { consolePort, index }: { readonly index: number; readonly consolePort: string },
    kubeconfig: string,
    signal: AbortSignal,
  ): Promise<void> {
    const identity = identityOf(index);
    const firstPort = index === 0 ? consolePort : ANY_PORT;
    // Keeps the address of its pages for open consoles.
    const args = async (former: ReadyMessage | undefined): Promise<string[]> => {
      const adminPort = await adminPortAgain(former?.adminUrl, firstPort);
      const { folder } = this;
      return replicaArguments(this.options.up, { identity, kubeconfig, folder, consolePort, adminPort });
    };
    let known: string | undefined;
    const child = this.makeChild(identity, args, (pid, { adminUrl = '', certificates }) => {
      if (pid && known !== undefined && known !== adminUrl) {
        this.options.logger.warn(`${identity} has its admin pages elsewhere now`, {
          adminUrl,
          before: known,
        });
      }
      if (pid) known = adminUrl;
      const others = this.state.replicas.filter((replica) => replica.identity !== identity);
      const replicas = pid ? [...others, { identity, pid, adminUrl, certificates }] : others;
      this.update({
        replicas: replicas.toSorted((a, b) => a.identity.localeCompare(b.identity, 'en', { numeric: true })),
      });
    });
    await this.startOnApi(child, signal);
  }

  /**
   * The first start of a process that needs the API server. A failure is only final if the API server was up all the
   * time; otherwise it is retried once the server is back.
   */
  private async startOnApi(child: SupervisedProcess, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.options;
    for (;;) {
      const deaths = this.apiServer?.deaths;
      try {
        await child.start();
        return;
      } catch (error) {
        if (signal.aborted || (this.apiServer?.isUp && this.apiServer.deaths === deaths)) throw error;
        logger.warn(`${child.name} could not start without the API server; trying again once that is back`, {
          error: errorMessage(error),
        });
        do await clock.sleep(API_POLL_MS, signal);
        while (!this.apiServer?.isUp);
      }
    }
  }

  private started(): Started {
    const { up } = this.options;
    const running = new Map(this.state.replicas.map((replica) => [replica.identity, replica]));
    return {
      down: [
        ...(this.apiServer?.isUp ? [] : ['the API server']),
        ...(up.nodes === 0 || this.state.nodes ? [] : ['the simulated nodes']),
        ...(up.scheduler !== 'process' || this.state.scheduler ? [] : ['the scheduler']),
      ],
      replicas: Array.from({ length: up.replicas }, (_, index) => {
        const identity = identityOf(index);
        return running.get(identity) ?? { identity };
      }),
    };
  }

  private makeChild(
    name: string,
    args: SupervisedProcessOptions['args'],
    note: (pid: number | undefined, ready: ReadyMessage) => void,
  ): SupervisedProcess {
    const { clock, env, logger, main } = this.options;
    const child = new SupervisedProcess({
      name,
      main,
      args,
      // Not on the command line, where every user of the machine could read a password.
      env: withMemoryDefaults({ ...env, REDIS_URL: this.redis?.url, REDIS_CA_FILE: undefined }, 'time'),
      logFd: this.openLog(name),
      clock,
      logger,
      onChange: (running) => note(running?.pid, running?.ready ?? { type: 'ready' }),
    });
    this.children.push(child);
    return child;
  }

  private openLog(name: string): number {
    const fd = openOwnLog(join(this.options.up['data-dir'], 'logs', `${name}.log`));
    this.logFds.push(fd);
    return fd;
  }

  private update(change: Partial<RunState>): void {
    this.state = { ...this.state, ...change };
    const state = this.state;
    this.writing = this.writing
      .then(() => writeRunState(this.options.up['data-dir'], state))
      .catch((error: unknown) => this.options.logger.warn('could not note what runs', { error }));
  }
}

function identityOf(index: number): string {
  return `controller-${index}`;
}
