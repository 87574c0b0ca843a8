import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

export interface ManagedProcessOptions {
  readonly name: string;
  readonly main: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly execArgv?: readonly string[];
  readonly logFile: string;
}

interface Ready {
  readonly url?: string;
  readonly adminUrl?: string;
}

/** The memory and the handles that a process holds at rest. */
export interface Measurement {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly handles: Readonly<Record<string, number>>;
}

/** The work of a replica since its start, as `counted-work.mjs` counts it. */
export interface CountedWork {
  /** Sent to Redis by its client. */
  readonly commands: number;
  /** Sent to the API. */
  readonly requests: number;
  /** Begun, whether or not they are recorded. */
  readonly spans: number;
  readonly timers: number;
  /** Bytes since the first question, an estimate. */
  readonly allocated: number;
  /** Bytes, those of TLS included. */
  readonly redisSent: number;
  readonly redisReceived: number;
  readonly apiSent: number;
  readonly apiReceived: number;
  /** How often each command was sent to Redis; scripts have their own names. */
  readonly byName: Readonly<Record<string, number>>;
}

const RESTART_DELAY_MS = 100;
/**
 * A process that hangs is ended after this. Loading its single modules took a replica a minute on a machine where
 * twenty would run.
 */
const READY_TIMEOUT_MS = 150_000;

/** One `rollkeeper` process that is started again whenever it ends, as its supervisor or a cluster would do. */
export class ManagedProcess {
  private child: ChildProcess | undefined;
  private ready: Promise<Ready> = Promise.resolve({});
  private info: Ready = {};
  private stopping = false;
  private readonly logFd: number;
  /** When each life ended: process id and milliseconds of `performance.now()`. */
  readonly deaths: { pid: number; code: number | null; signal: string | null }[] = [];
  isReady = false;
  /** Whether it was suspended: until it goes on, it takes no other signal than SIGKILL. */
  isSuspended = false;

  constructor(private options: ManagedProcessOptions) {
    this.logFd = openSync(options.logFile, 'a');
  }

  get name(): string {
    return this.options.name;
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  get adminUrl(): string {
    return this.info.adminUrl ?? '';
  }

  get url(): string {
    return this.info.url ?? '';
  }

  async start(): Promise<void> {
    this.launch();
    await this.ready;
  }

  /** Resolves once the present life has said that it is ready. */
  async untilReady(): Promise<void> {
    for (;;) {
      const { child } = this;
      await this.ready.catch(() => undefined);
      if (this.child === child && this.isReady) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends it, as an upgrade does; its next life runs another program. Resolves once that is ready. */
  async replace(program: Pick<ManagedProcessOptions, 'main' | 'env'>): Promise<void> {
    const { child } = this;
    this.options = { ...this.options, ...program };
    this.signal('SIGTERM');
    while (this.child === child) await new Promise((resolve) => setTimeout(resolve, 20));
    await this.untilReady();
  }

  signal(name: NodeJS.Signals): void {
    this.child?.kill(name);
    if (name === 'SIGSTOP') this.isSuspended = true;
    if (name === 'SIGCONT') this.isSuspended = false;
  }

  send(message: Readonly<Record<string, unknown>>): void {
    if (this.child?.connected) this.child.send(message);
  }

  /** Timers, handles and memory, by the preload. */
  measure(): Promise<Measurement> {
    return this.ask<Measurement>('measure', 'measured');
  }

  /** Asks a replica for its work. It must be one that is measured, not one that the harness disturbs. */
  work(): Promise<CountedWork> {
    return this.ask<CountedWork>('work', 'worked');
  }

  private ask<Answer>(what: string, type: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { child } = this;
      const timer = setTimeout(() => reject(new Error(`${this.name} did not answer`)), 10_000);
      const listen = (message: { type?: string } & Answer): void => {
        if (message.type !== type) return;
        clearTimeout(timer);
        child?.off('message', listen);
        resolve(message);
      };
      child?.on('message', listen);
      this.send({ chaos: what });
    });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    const { child } = this;
    if (child && child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await exited;
      clearTimeout(killer);
    }
    closeSync(this.logFd);
  }

  private launch(): void {
    const { args, env, execArgv = [], main } = this.options;
    this.isReady = false;
    const child = fork(main, [...args], {
      env: { ...process.env, ...env },
      execArgv: [...execArgv],
      stdio: ['ignore', this.logFd, this.logFd, 'ipc'],
    });
    this.child = child;
    this.isSuspended = false;
    child.once('exit', (code, signal) => {
      this.isReady = false;
      this.deaths.push({ pid: child.pid ?? 0, code, signal });
      if (!this.stopping) setTimeout(() => this.stopping || this.launch(), RESTART_DELAY_MS);
    });
    this.ready = new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${this.name} was not ready within ${READY_TIMEOUT_MS / 1000} s`)),
        READY_TIMEOUT_MS,
      );
      child.on('message', (message: { type?: string } & Ready) => {
        if (message.type !== 'ready') return;
        clearTimeout(timer);
        this.info = message;
        this.isReady = true;
        resolve(message);
      });
      child.once('exit', () => {
        clearTimeout(timer);
        reject(new Error(`${this.name} ended before it was ready`));
      });
    });
    this.ready.catch(() => undefined);
  }
}
