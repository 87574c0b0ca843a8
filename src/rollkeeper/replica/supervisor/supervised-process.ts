import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import type { Clock } from '@rollkeeper/machinery/clock';
import { doublingDelayMs, pause } from '@rollkeeper/machinery/clock';
import type { ChildMessage } from '@rollkeeper/machinery/process';
import { StartupError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';

export type ReadyMessage = Extract<ChildMessage, { type: 'ready' }>;

export interface SupervisedProcessOptions {
  /** For logs and the log file's name: `apiserver`, `controller-1`. */
  readonly name: string;
  /** The program's own entry file. */
  readonly main: string;
  /** Called before each start; `former` is its last ready message, undefined before the first start. */
  readonly args: (former: ReadyMessage | undefined) => readonly string[] | Promise<readonly string[]>;
  readonly env: NodeJS.ProcessEnv;
  /** The file of its output. */
  readonly logFd: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called each time it is up (again) or reports a change, and with undefined when it is down. */
  readonly onChange: (running: { pid: number; ready: ReadyMessage } | undefined) => void;
}

const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;
/** A process that lived this long gets a quick restart again. */
const HEALTHY_AFTER_MS = 30_000;
const STARTUP_TIMEOUT_MS = 60_000;
/** After this time a stop becomes a kill; if the process has announced its own limit, a little after that. */
const STOP_TIMEOUT_MS = 10_000;
const AFTER_ITS_OWN_LIMIT_MS = 2000;

/**
 * Keeps one child process running: starts it, waits for its ready message, restarts it with backoff when it dies, stops
 * it with SIGTERM and, if it ignores that, SIGKILL. It leads its own process group, so that Ctrl-C reaches it through
 * its supervisor, in order.
 */
export class SupervisedProcess {
  private child: ChildProcess | undefined;
  private former: ReadyMessage | undefined;
  private stopping = false;
  private up = false;
  private died = 0;
  private exited: Promise<void> = Promise.resolve();
  private readonly stopRestarts = new AbortController();

  constructor(private readonly options: SupervisedProcessOptions) {}

  get name(): string {
    return this.options.name;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Whether it runs and has reported ready. */
  get isUp(): boolean {
    return this.up;
  }

  /** Number of deaths after having been ready: the same value twice, while up, means that it was up in between. */
  get deaths(): number {
    return this.died;
  }

  /**
   * Starts it the first time; later deaths are handled in the background. @throws StartupError with the child's own
   * message
   */
  async start(): Promise<ReadyMessage> {
    const ready = await this.launch();
    void this.keepAlive();
    return ready;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.stopRestarts.abort();
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const { stopsWithinMs = 0 } = this.former ?? {};
    const timeoutMs = Math.max(STOP_TIMEOUT_MS, stopsWithinMs + AFTER_ITS_OWN_LIMIT_MS);
    const killer = this.options.clock.setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    await this.exited;
    killer.cancel();
  }

  private async launch(): Promise<ReadyMessage> {
    const { env, logFd, main, onChange } = this.options;
    const args = await this.options.args(this.former);
    if (this.isStopping()) throw new StartupError(`${this.name} was stopped before it started`);
    const child = fork(main, args, {
      env,
      stdio: ['ignore', logFd, logFd, 'ipc'],
      detached: true,
    });
    this.child = child;
    this.exited = new Promise((resolve) => child.once('exit', () => resolve()));
    const note = (ready: ReadyMessage): void => {
      this.former = ready;
      onChange({ pid: child.pid ?? 0, ready });
    };
    const ready = await this.waitUntilReady(child);
    this.up = true;
    note(ready);
    child.on('message', (message: ChildMessage) => message.type === 'ready' && note(message));
    void this.exited.then(() => {
      this.up = false;
      this.died += 1;
      onChange(undefined);
    });
    return ready;
  }

  private waitUntilReady(child: ChildProcess): Promise<ReadyMessage> {
    const { clock, name } = this.options;
    return new Promise((resolve, reject) => {
      const fail = (problem: string): void => {
        timer.cancel();
        reject(new StartupError(problem));
      };
      const timer = clock.setTimeout(() => {
        child.kill('SIGKILL');
        fail(`${name} was not ready after ${STARTUP_TIMEOUT_MS / 1000} s`);
      }, STARTUP_TIMEOUT_MS);
      child.on('message', (message: ChildMessage) => {
        if (message.type === 'failed') fail(message.message);
        if (message.type !== 'ready') return;
        timer.cancel();
        resolve(message);
      });
      child.once('error', (error) => fail(`${name} could not be started: ${error.message}`));
      child.once('exit', (code, signal) =>
        fail(`${name} ended before it was ready (${signal ?? `exit code ${code}`})`),
      );
    });
  }

  private async keepAlive(): Promise<void> {
    const { clock, logger, name } = this.options;
    for (let failures = 0; ;) {
      const startedMs = clock.monotonicNow();
      await this.exited;
      if (this.stopping) return;
      if (clock.monotonicNow() - startedMs > HEALTHY_AFTER_MS) failures = 0;
      const delayMs = doublingDelayMs(failures++, {
        firstMs: FIRST_RESTART_MS,
        longestMs: LONGEST_RESTART_MS,
      });
      const { exitCode, signalCode } = this.child ?? {};
      logger.warn(`${name} ended; starting it again`, { exitCode, signalCode, delayMs });
      await pause(clock, delayMs, this.stopRestarts.signal);
      if (this.isStopping()) return;
      await this.launch().catch((error: unknown) => {
        if (!this.isStopping()) logger.error(`${name} did not come back`, { error: errorMessage(error) });
      });
    }
  }

  /** Read again after each wait. */
  private isStopping(): boolean {
    return this.stopping;
  }
}
