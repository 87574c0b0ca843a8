import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeKubeconfig } from '../../../src/api-server/write-kubeconfig.js';
import { readCredentials } from '../../../src/app/supervisor/credentials.js';
import { freePort } from '../../../src/testing/free-port.js';
import { waitFor } from '../../../src/testing/wait-for.js';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'dist', 'main.js');

export interface Replica {
  readonly process: ChildProcess;
  readonly adminUrl: string;
}

/** An API server and replicas that nobody starts again when they die, so that faults last as long as a test wants. */
export class ReplicaSetUp {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));
  readonly kubeconfig = join(this.dataDir, 'kubeconfig');
  private readonly children: ChildProcess[] = [];
  private apiPort = 0;
  private apiServer: ChildProcess | undefined;

  constructor(readonly redisUrl: string) {}

  async startApiServer(): Promise<ChildProcess> {
    this.apiPort ||= await freePort();
    const server = `https://127.0.0.1:${this.apiPort}`;
    const args = ['apiserver', '--port', String(this.apiPort), '--data-dir', this.dataDir];
    this.apiServer = this.spawn([...args, '--redis-url', this.redisUrl]);
    const credentials = await waitFor(() => readCredentials(this.dataDir).catch(() => undefined), {
      timeoutMs: 30_000,
      what: 'the API server’s certificates',
    });
    await writeKubeconfig({ path: this.kubeconfig, server, ...credentials });
    return this.apiServer;
  }

  async stopApiServer(): Promise<void> {
    const server = this.apiServer;
    if (!server || server.exitCode !== null) return;
    const exited = once(server, 'exit');
    server.kill('SIGKILL');
    await exited;
  }

  /** @param more further arguments of `rollkeeper controller` */
  async startReplica(identity: string, more: readonly string[] = []): Promise<Replica> {
    const port = await freePort();
    const args = ['controller', '--kubeconfig', this.kubeconfig, '--redis-url', this.redisUrl];
    const process = this.spawn([...args, '--identity', identity, '--admin-port', String(port), ...more]);
    const adminUrl = `http://127.0.0.1:${port}`;
    await waitFor(() => fetch(`${adminUrl}/livez`).catch(() => undefined), {
      timeoutMs: 30_000,
      what: `${identity} to serve`,
    });
    return { process, adminUrl };
  }

  async stop(): Promise<void> {
    for (const child of this.children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await exited;
    }
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  private spawn(args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [MAIN, ...args], { stdio: 'ignore' });
    this.children.push(child);
    return child;
  }
}
