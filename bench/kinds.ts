import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureTlsFiles, writeKubeconfig } from '../src/apiserver/index.js';
import { freePort } from '../src/machinery/listening.js';
import { startTestRedisServer } from '../src/testing/redis-server.js';
import { waitFor } from '../src/testing/wait-for.js';
import { number, numbers, readFlags, text } from '../test/support/flags.js';
import { memoryOf } from './support/process-figures.js';
import { startManyKinds } from './support/many-kinds.js';

/*
 * Measures the cost of following the metadata of very many kinds: memory of the replica that leads and of one that
 * does not, connections, requests, and how soon a new leader collects.
 */

const flags = readFlags('npm run bench --', {
  kinds: numbers('beside those that the controllers cache anyway; one measurement each', [0, 60, 260]),
  objects: number('of each kind', 200),
  idleSeconds: number('how long an idle set is watched', 60),
  dist: text('the build to measure', join(import.meta.dirname, '..', 'dist')),
});

interface Replica {
  readonly process: ChildProcess;
  readonly adminUrl: string;
}

interface Status {
  readonly leader: boolean;
  readonly controllers: readonly { name: string; consuming: boolean; figures?: { objects: number } }[];
}

for (const kinds of flags.kinds) await measure(kinds, flags.objects);

async function measure(kinds: number, objects: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'rollkeeper-kinds-'));
  const tls = await ensureTlsFiles({ dir, nowMs: Date.now() });
  const api = await startManyKinds({ kinds, objects, tls });
  const redis = await startTestRedisServer();
  const kubeconfig = join(dir, 'kubeconfig');
  await writeKubeconfig({ path: kubeconfig, server: api.url, caPem: tls.ca, token: 'any' });
  const replicas: Replica[] = [];
  try {
    for (const identity of ['a', 'b']) replicas.push(await startReplica(identity, kubeconfig, redis.url));
    const [leader, follower] = await byRole(replicas);
    await untilCollecting(leader);
    await pause(5);
    const before = { ...api.counts };
    await pause(flags.idleSeconds);
    const requests = api.counts.list + api.counts.watch - before.list - before.watch;
    const figures = (await statusOf(leader))?.controllers.find(
      ({ name }) => name === 'garbage-collector',
    )?.figures;
    console.log(
      `\n${kinds} kinds more, ${figures?.objects ?? 0} objects of theirs and others in the leader's cache`,
    );
    console.log(`  resident: leader ${residentMib(leader)} MiB, other replica ${residentMib(follower)} MiB`);
    console.log(`  open watches ${api.openWatches}, most connections at once ${api.mostConnections}`);
    console.log(`  lists and watches begun in ${flags.idleSeconds} idle seconds: ${requests}`);
    console.log(
      `  discovery: ${api.counts.discovery} questions, of which answered "as before": ${api.counts.notModified}`,
    );
    leader.process.kill('SIGTERM');
    await once(leader.process, 'exit');
    const began = performance.now();
    await untilCollecting(follower);
    console.log(`  collecting ${Math.round(performance.now() - began)} ms after the leader had ended`);
    await pause(5);
    console.log(`  resident of the new leader: ${residentMib(follower)} MiB`);
  } finally {
    for (const { process } of replicas) {
      if (process.exitCode !== null) continue;
      process.kill('SIGKILL');
      await once(process, 'exit');
    }
    await redis.stop();
    await api.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function startReplica(identity: string, kubeconfig: string, redisUrl: string): Promise<Replica> {
  const port = await freePort();
  const args = ['controller', '--kubeconfig', kubeconfig, '--redis-url', redisUrl, '--identity', identity];
  const child = spawn(
    process.execPath,
    [join(flags.dist, 'main.js'), ...args, '--admin-port', String(port)],
    {
      stdio: 'ignore',
    },
  );
  const replica = { process: child, adminUrl: `http://127.0.0.1:${port}` };
  await waitFor(
    async () => (await fetch(`${replica.adminUrl}/readyz`).catch(() => undefined))?.status === 200,
    {
      timeoutMs: 60_000,
      what: `${identity} to be ready`,
    },
  );
  return replica;
}

async function statusOf({ adminUrl }: Replica): Promise<Status | undefined> {
  const response = await fetch(`${adminUrl}/admin/status`).catch(() => undefined);
  return response?.ok ? ((await response.json()) as Status) : undefined;
}

async function byRole(replicas: readonly Replica[]): Promise<[Replica, Replica]> {
  return waitFor(
    async () => {
      const leads = await Promise.all(replicas.map(async (replica) => (await statusOf(replica))?.leader));
      const leader = replicas[leads.indexOf(true)];
      const other = replicas[leads.indexOf(false)];
      return leader && other ? ([leader, other] as [Replica, Replica]) : undefined;
    },
    { timeoutMs: 30_000, what: 'a leader' },
  );
}

async function untilCollecting(replica: Replica): Promise<void> {
  const isCollecting = async (): Promise<boolean> =>
    (await statusOf(replica))?.controllers.some(
      ({ consuming, name }) => name === 'garbage-collector' && consuming,
    ) ?? false;
  await waitFor(isCollecting, { timeoutMs: 120_000, intervalMs: 20, what: 'the garbage collector to work' });
}

function residentMib({ process: { pid = 0 } }: Replica): number {
  return Math.round(memoryOf(pid).resident);
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
