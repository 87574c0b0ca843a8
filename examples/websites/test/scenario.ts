/** The rules that every way of writing the operator must follow, for any test runner. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Deployment, Service, definitionOf } from 'rollkeeper';
import type { Kind } from 'rollkeeper';
import { freePort, startTestCluster, waitFor } from 'rollkeeper/testing';
import type { TestCluster } from 'rollkeeper/testing';
import { Website, websiteWebhook, websites } from '../operator.js';

/** The same operator three ways; each has a program, and roles made by `npm run generate`. */
export const WAYS = [
  { way: 'without-redis', main: 'main.js' },
  { way: 'on-redis', main: 'main-on-redis.js' },
  { way: 'with-nest', main: 'main-with-nest.js' },
] as const;

type Way = (typeof WAYS)[number];

/**
 * The address by which the API server reaches this machine, and the image of the pods: for a cluster of your own
 * (USE_EXISTING_CLUSTER).
 */
const { WEBHOOK_HOST = '127.0.0.1', IMAGE = 'shop:1' } = process.env;

const NAMES = Array.from({ length: 12 }, (_, index) => `shop-${index}`);
const PATIENT = { timeoutMs: 60_000, intervalMs: 50 };
const file = (path: string): URL => new URL(`../${path}`, import.meta.url);
const refOf = (name: string) => ({ namespace: 'default', name });
const aWebsite = (name: string, host = `${name.toUpperCase()}.example.com`): Website => ({
  ...{ apiVersion: 'example.com/v1', kind: 'Website', metadata: refOf(name) },
  // The server fills in the replicas.
  spec: { host, image: IMAGE } as Website['spec'],
});

/** In the test's process: controller, webhook and definition, and nothing else. */
export async function rollsOutAWebsite(): Promise<void> {
  await using cluster = await startTestCluster({
    controllers: ['deployment', 'replicaset', websites],
    nodes: 1,
    webhooks: [websiteWebhook],
    webhookHost: WEBHOOK_HOST,
    manifests: { ...definitionOf(Website) },
  });
  await cluster.client.create(Website, aWebsite('shop'));
  await cluster.waitFor<Website>('websites/shop', (website) => website?.status?.ready === true);
  const { spec } = await cluster.client.get(Website, refOf('shop'));
  assert.deepEqual(spec, { host: 'shop.example.com', image: IMAGE, replicas: 2 });
  const change = { type: 'merge', body: { spec: { host: 'other' } } } as const;
  await assert.rejects(cluster.client.patch(Website, refOf('shop'), change), /host is immutable/);
}

/** Two processes with the roles that were generated; the one that leads is killed while it works. */
export async function goesOnWhenItsLeaderIsKilled({ main, way }: Way): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'websites' } };
  await using cluster = await startTestCluster({
    controllers: ['deployment', 'replicaset'],
    nodes: 1,
    manifests: [namespace, file('generated/definition.yaml'), file(`generated/${way}.yaml`)],
  });
  const replicas = [await Replica.start(main, cluster), await Replica.start(main, cluster)];
  try {
    const leader = await waitFor(() => leaderOf(replicas), { ...PATIENT, what: 'a leader' });
    await waitFor(() => isFilledIn(cluster), { ...PATIENT, what: 'the webhook of the leader' });
    await Promise.all(NAMES.map((name) => cluster.client.create(Website, aWebsite(name))));
    const isBegun = async () => (await namesOf(cluster, Deployment)).length > 0;
    await waitFor(isBegun, { ...PATIENT, what: 'the first Deployment' });
    await leader.end('SIGKILL');

    const [survivor] = replicas.filter((replica) => replica !== leader);
    for (const name of NAMES)
      await cluster.waitFor<Website>(`websites/${name}`, (each) => each?.status?.ready === true, PATIENT);
    assert.deepEqual(await namesOf(cluster, Deployment), [...NAMES].sort());
    assert.deepEqual(await namesOf(cluster, Service), [...NAMES].sort());
    const { spec } = await cluster.client.get(Website, refOf('shop-0'));
    assert.equal(spec.host, 'shop-0.example.com');

    // The next leader has put its own address into the configurations.
    const refusal = () =>
      cluster.client.create(Website, aWebsite('bad', 'no such.host'), { dryRun: true }).then(
        () => assert.fail('it was taken'),
        (error: Error) => error.message.includes('must not contain spaces'),
      );
    await waitFor(refusal, { ...PATIENT, what: 'the webhook of the next leader' });
    await survivor?.end('SIGTERM');
    const { exitCode, signalCode } = survivor?.process ?? {};
    // Nest ends by the signal itself, once its hooks are through.
    assert.ok(exitCode === 0 || signalCode === 'SIGTERM', survivor?.output);
    // The roles have all that it needs.
    const outputs = replicas.map(({ output }) => output).join('');
    assert.doesNotMatch(outputs, /forbidden|may not|not guarded/i);
  } catch (error) {
    for (const { output } of replicas) console.error(output);
    throw error;
  } finally {
    await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  }
}

/** An API server notices a configuration of webhooks a moment after it is written. */
async function isFilledIn({ client }: TestCluster): Promise<boolean> {
  const probe = client.create(Website, aWebsite('probe'), { dryRun: true });
  return (await probe.catch(() => undefined))?.spec.host === 'probe.example.com';
}

async function namesOf({ client }: TestCluster, kind: Kind): Promise<string[]> {
  const { items } = await client.list(kind, { namespace: 'default' });
  const names = items.map(({ metadata }) => metadata.name);
  return names.filter((name) => name.startsWith('shop-')).sort();
}

class Replica {
  output = '';
  private readonly ended: Promise<unknown>;

  private constructor(
    readonly process: ChildProcess,
    private readonly url: string,
  ) {
    for (const stream of [process.stdout, process.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.ended = new Promise((resolve) => process.once('close', resolve));
  }

  /** Resolves once it is ready. */
  static async start(main: string, cluster: TestCluster): Promise<Replica> {
    const [port, hooks] = [await freePort(), await freePort()];
    const operator = await cluster.user('system:serviceaccount:websites:websites');
    const child = spawn(process.execPath, [file(main).pathname], {
      env: {
        ...{ PATH: process.env['PATH'], REDIS_URL: process.env['REDIS_URL'], ...operator.env },
        ...{ PORT: String(port), WEBHOOK_URL: `https://${WEBHOOK_HOST}:${hooks}` },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const replica = new Replica(child, `http://127.0.0.1:${port}`);
    const isReady = async () => {
      assert.equal(child.exitCode, null, `${main} has ended: ${replica.output}`);
      return (await replica.read('/readyz'))?.status === 200;
    };
    await waitFor(isReady, { ...PATIENT, what: `${main} to be ready` });
    return replica;
  }

  async leads(): Promise<boolean> {
    const metrics = await (await this.read('/metrics'))?.text();
    return /^leader_election_master_status\{[^}]*\} 1$/m.test(metrics ?? '');
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill(signal);
    await this.ended;
  }

  private read(path: string): Promise<Response | undefined> {
    return fetch(this.url + path).catch(() => undefined);
  }
}

async function leaderOf(replicas: readonly Replica[]): Promise<Replica | undefined> {
  for (const replica of replicas) if (await replica.leads()) return replica;
  return undefined;
}
