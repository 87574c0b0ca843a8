import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { ReadyMessage } from '../../../src/rollkeeper/replica/supervisor/supervised-process.js';
import type { ChildMessage } from '../../../src/machinery/process/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'dist', 'main.js');
const KEPT_OUTPUT = 4000;

/** One process of the built program, which is not started again when it dies. */
export class Program {
  private ready: ReadyMessage | undefined;
  private output = '';

  private constructor(
    private readonly name: string,
    readonly process: ChildProcess,
  ) {
    process.on('message', (message: ChildMessage) => {
      if (message.type === 'ready') this.ready = message;
    });
    for (const stream of [process.stdout, process.stderr]) {
      stream?.on(
        'data',
        (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-KEPT_OUTPUT)),
      );
    }
  }

  /** @param env is added to that of this process. @default nothing */
  static spawn(name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
    const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const;
    return new Program(name, fork(MAIN, args, { stdio: [...stdio], env: { ...process.env, ...env } }));
  }

  get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Resolves with its first message once it serves. @throws Error with its output if it ends before */
  async untilReady(): Promise<ReadyMessage> {
    const what = `${this.name} to serve`;
    const isSettled = (): boolean => this.ready !== undefined || this.hasEnded;
    await waitFor(isSettled, { what }).catch((error: Error) => {
      throw this.failure(error.message);
    });
    if (this.ready) return this.ready;
    const { exitCode, signalCode } = this.process;
    throw this.failure(`waited for ${what}, and it ended (${signalCode ?? `exit code ${exitCode}`})`);
  }

  /** Ends it at once, even in the middle of work or while it is suspended. */
  async kill(): Promise<void> {
    if (this.hasEnded) return;
    const exited = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGCONT');
    this.process.kill('SIGKILL');
    await exited;
  }

  private failure(message: string): Error {
    return new Error(`${message}; it printed: ${this.output}`);
  }
}
