import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeKubeconfig } from '../../../src/apiserver/server/write-kubeconfig.js';
import { readCredentials } from '../../../src/rollkeeper/replica/supervisor/credentials.js';
import { freePort } from '../../../src/machinery/listening.js';
import { Program } from './program.js';

export interface Replica {
  readonly process: ChildProcess;
  readonly adminUrl: string;
}

/**
 * An API server and replicas that are not started again when they die, so that faults last as long as a test wants.
 */
export class ReplicaSetUp {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));
  readonly kubeconfig = join(this.dataDir, 'kubeconfig');
  private readonly programs: Program[] = [];
  private apiPort = 0;
  private apiServer: Program | undefined;

  constructor(readonly redisUrl: string) {}

  /** Started again, it is where it was. */
  async startApiServer(): Promise<ChildProcess> {
    this.apiPort ||= await freePort();
    const server = `https://127.0.0.1:${this.apiPort}`;
    const args = ['apiserver', '--port', String(this.apiPort), '--data-dir', this.dataDir];
    this.apiServer = this.spawn('the API server', [...args, '--redis-url', this.redisUrl]);
    await this.apiServer.untilReady();
    await writeKubeconfig({ path: this.kubeconfig, server, ...(await readCredentials(this.dataDir)) });
    return this.apiServer.process;
  }

  async stopApiServer(): Promise<void> {
    await this.apiServer?.kill();
  }

  /** @param more further arguments of `rollkeeper controller` */
  async startReplica(identity: string, more: readonly string[] = []): Promise<Replica> {
    const args = ['controller', '--kubeconfig', this.kubeconfig, '--redis-url', this.redisUrl];
    const replica = this.spawn(identity, [...args, '--identity', identity, '--admin-port', '0', ...more]);
    const { adminUrl = '' } = await replica.untilReady();
    return { process: replica.process, adminUrl };
  }

  async stop(): Promise<void> {
    for (const program of this.programs) await program.kill();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  private spawn(name: string, args: readonly string[]): Program {
    const program = Program.spawn(name, args);
    this.programs.push(program);
    return program;
  }
}
