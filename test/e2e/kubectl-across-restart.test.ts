import type { ChildProcess } from 'node:child_process';
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { createHttpApiClient, isAlreadyExists, loadKubeconfig } from '../../src/client/api-client/index.js';
import { freePort } from '../../src/machinery/listening.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { anyKubectl } from './support/kubectl.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const PATIENT = { timeoutMs: 120_000 };
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };
const namespace = 'default';
const kubectl = anyKubectl();

/** A kubectl that runs until it ends by itself, or is killed. */
class Running {
  output = '';
  /** It may complain of the event that was cut off. */
  private errors = '';
  exitCode: number | null | undefined;
  private readonly child: ChildProcess;

  constructor(kubeconfig: string, ...args: string[]) {
    this.child = spawn(kubectl?.binary ?? 'kubectl', [...args, '--kubeconfig', kubeconfig], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.child.once('close', (code) => (this.exitCode = code));
  }

  get lines(): string[] {
    return this.output.split('\n').slice(0, -1);
  }

  async shows(text: string): Promise<void> {
    await waitFor(() => this.output.includes(text), { ...PATIENT, what: `"${text}" in ${this.output}` });
  }

  /** @throws when it ends badly */
  async ends(): Promise<void> {
    await waitFor(() => this.exitCode !== undefined, { ...PATIENT, what: `the end of ${this.output}` });
    if (this.exitCode !== 0) throw new Error(`it ended with ${this.exitCode}: ${this.errors}`);
  }

  stop(): void {
    this.child.kill();
  }
}

describe.skipIf(!kubectl)('kubectl, while the API server is killed and started again', () => {
  const dir = mkdtempSync(join(tmpdir(), 'rollkeeper-restart-'));
  const kubeconfig = join(dir, 'kubeconfig');
  let redis: TestRedisServer;
  let port: number;
  let server: ChildProcess;
  let client: HttpApiClient;

  /** On the same Redis and port each time. */
  const start = async (): Promise<void> => {
    const args = ['apiserver', '--redis-url', redis.url, '--data-dir', dir, '--port', `${port}`];
    server = fork(MAIN, [...args, '--kubeconfig', kubeconfig], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    await new Promise<void>((resolve, reject) => {
      server.once('message', () => resolve());
      server.once('exit', (code) => reject(new Error(`the API server ended with ${code}`)));
    });
  };
  const kill = async (): Promise<void> => {
    const exited = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await exited;
  };

  beforeAll(async () => {
    [redis, port] = [await startTestRedisServer(), await freePort()];
    await start();
    const clock = new SystemClock();
    const connection = await loadKubeconfig({ path: kubeconfig, clock });
    client = createHttpApiClient({ connection, clock, userAgent: 'test' });
  });
  afterAll(async () => {
    await client?.close();
    await kill();
    await redis.stop();
    rmSync(dir, { recursive: true });
  });

  /** Resolves when the creation is acknowledged. It is retried for as long as there is no answer. */
  const create = async (name: string): Promise<void> => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } };
    const isCreated = () =>
      client.create(CONFIG_MAPS, body).then(
        () => true,
        (error: unknown) => isAlreadyExists(error),
      );
    await waitFor(isCreated, { ...PATIENT, what: `${name} to be created` });
  };

  it('a watch goes on where it was, without a gap and without a repeat', async () => {
    const columns = 'custom-columns=NAME:.metadata.name,VERSION:.metadata.resourceVersion';
    const first = new Running(kubeconfig, 'get', 'cm', '-w', '--no-headers', '-o', columns);
    await create('cm-0');
    await first.shows('cm-0');
    const writing = (async () => {
      for (let number = 1; number < 60; number++) await create(`cm-${number}`);
    })();
    await first.shows('cm-20');
    await kill();
    await first.ends();
    await start();
    const seen = first.lines.map((line) => line.split(/ +/) as [string, string]);
    const last = seen.at(-1)?.[1] ?? '';
    const path = `/api/v1/namespaces/${namespace}/configmaps?watch=true&resourceVersion=${last}`;
    const second = new Running(kubeconfig, 'get', '--raw', path);
    await writing;
    await second.shows('cm-59');
    second.stop();
    for (const line of second.lines) {
      const { object, type } = JSON.parse(line) as { object: KubernetesObject; type: string };
      expect(type).toBe('ADDED');
      seen.push([object.metadata.name, object.metadata.resourceVersion ?? '']);
    }
    expect(seen.map(([name]) => name)).toEqual(Array.from({ length: 60 }, (_, number) => `cm-${number}`));
    const versions = seen.map(([, version]) => Number(version));
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  });

  it('a rollout status waits on, and sees the end', async () => {
    await client.create(Deployment, aDeployment({ name: 'web', replicas: 1 }));
    const status = new Running(kubeconfig, 'rollout', 'status', 'deploy/web', '--timeout=90s');
    await status.shows('Waiting for deployment');
    await kill();
    await start();
    const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    const patch = { type: 'merge', body: { status: { observedGeneration: 1, ...counts } } } as const;
    const ref = { namespace, name: 'web' };
    await client.patch(Deployment, ref, patch, { subresource: 'status' });
    await status.shows('successfully rolled out');
    await status.ends();
  });
});
