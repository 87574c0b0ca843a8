import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Worker processes of a test, all of which end with it. */
export class WorkerProcesses {
  private readonly children: ChildProcess[] = [];

  /** Starts `queue-worker.ts`; resolves with its pid once it consumes. */
  async start(redisUrl: string, keyPrefix: string): Promise<number> {
    const child = fork(new URL('queue-worker.ts', import.meta.url), [redisUrl, keyPrefix], {
      execArgv: ['--import', fileURLToPath(new URL('register-typescript.mjs', import.meta.url))],
    });
    this.children.push(child);
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', (code) => reject(new Error(`the worker process ended with ${code}`)));
    });
    return child.pid ?? 0;
  }

  async stopAll(): Promise<void> {
    await Promise.all(
      this.children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exited = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        await exited;
      }),
    );
  }
}
