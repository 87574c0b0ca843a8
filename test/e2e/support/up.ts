import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpApiClient } from '../../../src/client/api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../../../src/client/api-client/index.js';
import { SystemClock } from '../../../src/machinery/clock/index.js';
import { silentLogger } from '../../../src/machinery/logging/index.js';
import type { UpStatus } from '../../../src/rollkeeper/replica/supervisor/index.js';
import type { ReplicaLine } from '../../../src/rollkeeper/replica/supervisor/status.js';
import { readUpStatus } from '../../../src/rollkeeper/replica/supervisor/status.js';
import { waitFor } from '../../../src/testing/wait-for.js';

export const MAIN = join(import.meta.dirname, '..', '..', '..', 'dist', 'main.js');
const READY = /Rollkeeper is ready/;

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface UpOptions {
  /** The program. @default the built one */
  main?: string;
  /** The folder of all its files. @default a new folder, removed by `remove` */
  dataDir?: string;
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
}

/** A `rollkeeper up` that runs, whichever process has started it: its data folder tells everything about it. */
export class RunningUp {
  constructor(readonly dataDir: string) {}

  get kubeconfig(): string {
    return join(this.dataDir, 'kubeconfig');
  }

  /** The lines that its processes logged between two times, in ms since 1970. */
  loggedBetween(fromMs: number, toMs: number): string {
    const folder = join(this.dataDir, 'logs');
    const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
    const isWithin = (line: string): boolean => {
      const atMs = Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? '');
      return atMs >= fromMs && atMs <= toMs;
    };
    return lines.filter(isWithin).join('\n');
  }

  /**
   * The answer of `rollkeeper status`, without a process for it: tests that wait ask often, beside what they measure.
   */
  async status(): Promise<UpStatus> {
    const status = await readUpStatus(this.dataDir);
    if (!status) throw new Error(`nothing is running from ${this.dataDir}`);
    return status;
  }

  /** The replica that leads; waited for, since for a moment none may. */
  leader(): Promise<ReplicaLine> {
    return waitFor(async () => (await this.status()).replicas.find(({ leader }) => leader), {
      what: 'a leader',
      intervalMs: 50,
    });
  }

  /** The token that lets people change things through the admin API. */
  adminToken(): Promise<string> {
    return readFile(join(this.dataDir, 'admin-token'), 'utf8').then((token) => token.trim());
  }

  /** A client of its API server; the caller closes it. */
  async client(): Promise<HttpApiClient> {
    const clock = new SystemClock();
    const connection = await loadKubeconfig({ path: this.kubeconfig, clock });
    return createHttpApiClient({ connection, clock, logger: silentLogger, userAgent: 'e2e' });
  }

  /** Runs a kubectl against it; with `input` as standard input. */
  kubectl(binary: string, args: readonly string[], input?: string): Promise<Finished> {
    return run(binary, args, { env: { ...process.env, KUBECONFIG: this.kubeconfig }, input });
  }
}

/** A `rollkeeper up` of the built program, as its own processes. */
export class Up extends RunningUp {
  private output = '';
  private exitCode: number | undefined;

  private constructor(
    private readonly child: ChildProcess,
    dataDir: string,
  ) {
    super(dataDir);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    child.once('exit', (code) => (this.exitCode = code ?? -1));
  }

  /** Starts it without waiting. */
  static spawn(options: UpOptions = {}): Up {
    const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));
    const args = [options.main ?? MAIN, 'up', '--port', '0', '--data-dir', dataDir, ...(options.args ?? [])];
    const env = { ...process.env, REDIS_URL: undefined, ...options.env };
    return new Up(spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }), dataDir);
  }

  /** Starts it and waits until it says that it is ready. */
  static async start(options: UpOptions = {}): Promise<Up> {
    const up = Up.spawn(options);
    await waitFor(() => READY.test(up.output) || up.exitCode !== undefined, {
      what: 'rollkeeper up to be ready',
    });
    if (up.exitCode !== undefined) throw new Error(`rollkeeper up ended with ${up.exitCode}: ${up.output}`);
    return up;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get printed(): string {
    return this.output;
  }

  /** Resolves with the exit code once it has ended. */
  ended(): Promise<number> {
    return waitFor(() => this.exitCode !== undefined && { code: this.exitCode }, {
      what: 'rollkeeper up to end',
    }).then(({ code }) => code);
  }

  /** Stops it as Ctrl-C does and resolves with its exit code. */
  async stop(): Promise<number> {
    if (this.exitCode === undefined) this.child.kill('SIGINT');
    return this.ended();
  }

  async stopAndRemove(): Promise<void> {
    await this.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

/** A command of the built program. */
export function rollkeeper(...args: readonly string[]): Promise<Finished> {
  return run(process.execPath, [MAIN, ...args]);
}

export function run(
  command: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; input?: string; timeoutMs?: number } = {},
): Promise<Finished> {
  const { env = process.env, input = '', timeoutMs = 90_000 } = options;
  return new Promise((resolve) => {
    const child = execFile(
      command,
      [...args],
      { env, timeout: timeoutMs, maxBuffer: 64 << 20 },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0;
        resolve({ code, stdout, stderr: code === -1 ? `${stderr}${error?.message}` : stderr });
      },
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
