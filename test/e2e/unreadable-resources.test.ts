import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { bearerToken, createHttpApiClient, isNotFound } from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import type { Kind, KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Deployment, Lease, Node, Pod, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import type { GivenAnswer } from '../../src/testing/faults/given-answer.js';
import type { TestRedisServer } from '../../src/testing/redis-server.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { WholeRequest } from '../chaos/set/replica-answers.js';
import { ReplicaAnswers } from '../chaos/set/replica-answers.js';
import type { RunningApiServer } from '../integration/api-server-harness.js';
import { TOKEN, startApiServer } from '../integration/api-server-harness.js';
import { aDeployment } from './support/a-deployment.js';
import { Program } from './support/program.js';

/** Collections that the replica may not list, by the end of their path. */
const DENIED = /\/(deployments|serviceaccounts)(\?|$)/;

describe('a replica that may not list everything', () => {
  const dir = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));
  let redis: TestRedisServer;
  let server: RunningApiServer;
  let answers: ReplicaAnswers;
  let client: HttpApiClient;
  let replica: Program;
  let adminUrl: string;

  beforeAll(async () => {
    redis = await startTestRedisServer();
    server = await startApiServer();
    answers = new ReplicaAnswers({ port: Number(new URL(server.url).port) }, () => 0);
    const judge = ({ method, path }: WholeRequest): GivenAnswer | undefined =>
      method === 'GET' && DENIED.test(path)
        ? { kind: 'status', code: 403, reason: 'Forbidden', message: 'you may not list them' }
        : undefined;
    answers.onRequest = judge;
    // A list that is streamed is a watch.
    answers.onWatch = judge;
    const kubeconfig = join(dir, 'kubeconfig');
    writeFileSync(kubeconfig, kubeconfigFor(`http://127.0.0.1:${await answers.start()}`));
    client = createHttpApiClient({
      connection: { serverUrl: server.url, tls: {}, credentials: bearerToken(TOKEN), source: 'test' },
      userAgent: 'test',
      clock: new SystemClock(),
    });
    const args = ['controller', '--kubeconfig', kubeconfig, '--redis-url', redis.url];
    replica = Program.spawn('the replica', [...args, '--admin-port', '0']);
    ({ adminUrl = '' } = await replica.untilReady());
  });

  afterAll(async () => {
    const exited = once(replica.process, 'exit');
    replica.process.kill('SIGTERM');
    await exited;
    await client.close();
    await answers.stop();
    await server.stop();
    await redis.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const text = async (path: string): Promise<string> => (await fetch(adminUrl + path)).text();
  const gone = (type: Kind, ref: { namespace?: string; name: string }): Promise<boolean> =>
    client.get(type, ref).then(() => false, isNotFound);

  it('is ready, and says what is missing', async () => {
    await waitFor(async () => (await fetch(`${adminUrl}/readyz`)).status === 200, {
      what: 'readiness',
    });
    const lines = await waitFor(
      async () => {
        const verbose = await text('/readyz?verbose');
        const isFilled = verbose.includes('serviceaccounts') && !verbose.includes('fills its caches');
        return isFilled ? verbose.split('\n') : undefined;
      },
      { what: 'the garbage collector to have read what it can' },
    );
    expect(lines).toContain(
      '[+]controller-deployment ok: does not start: cannot read deployments.apps (you may not list them)',
    );
    const collector = lines.find((line) => line.startsWith('[+]controller-garbage-collector')) ?? '';
    expect(collector).toContain('serviceaccounts (you may not list them)');
    expect(collector).toContain('deployments.apps (you may not list them)');
    expect(lines).toContain('[+]controller-replicaset ok');
    const controllers = await waitFor(
      async () => {
        const status = JSON.parse(await text('/admin/status')) as {
          controllers: { name: string; consuming: boolean; waitsFor: { resource: string }[] }[];
        };
        const consuming = status.controllers.filter((controller) => controller.consuming);
        return consuming.length === 4 ? status.controllers : undefined;
      },
      { what: 'four controllers to take keys' },
    );
    expect(controllers.map(({ consuming, name }) => [name, consuming])).toEqual([
      ['deployment', false],
      ['experiments', true],
      ['replicaset', true],
      ['garbage-collector', true],
      ['namespace', true],
    ]);
    expect(controllers[0]?.waitsFor).toEqual([
      { resource: 'deployments.apps', reason: 'you may not list them' },
    ]);
    expect(await text('/metrics')).toContain(
      'rollkeeper_unreadable_resources{controller="deployment",resource="deployments.apps"} 1',
    );
  });

  it('works with the rest', async () => {
    const { metadata, ...replicaSet } = aReplicaSet('alone');
    await client.create<ReplicaSet>(ReplicaSet, { ...replicaSet, metadata });
    await waitFor(async () => (await client.list(Pod, { namespace: 'default' })).items.length === 2, {
      what: 'the pods',
    });
    const node: KubernetesObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'owner' } };
    const { metadata: owner } = await client.create(Node, node);
    const reference = { apiVersion: 'v1', kind: 'Node', name: 'owner', uid: owner.uid ?? '' };
    await client.create(Lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'owned', namespace: 'default', ownerReferences: [reference] },
    });
    await client.delete(Node, { name: 'owner' }, { propagationPolicy: 'Foreground' });
    await waitFor(() => gone(Node, { name: 'owner' }), { what: 'the node to go' });
    await waitFor(() => gone(Lease, { namespace: 'default', name: 'owned' }), {
      what: 'the lease to go',
    });
  });

  it('starts what waited as soon as it may', async () => {
    await client.create<Deployment>(Deployment, aDeployment({ name: 'late' }));
    answers.onRequest = undefined;
    answers.onWatch = undefined;
    await waitFor(
      async () =>
        (await client.list(ReplicaSet, { namespace: 'default' })).items.some(({ metadata }) =>
          metadata.name.startsWith('late-'),
        ),
      { what: 'the ReplicaSet of the Deployment' },
    );
    expect(await text('/readyz?verbose')).toContain('[+]controller-deployment ok\n');
    // A list that is forbidden is retried less and less often, but at least every half minute.
    await waitFor(
      async () => (await text('/readyz?verbose')).includes('[+]controller-garbage-collector ok\n'),
      { intervalMs: 500, what: 'the garbage collector to read everything' },
    );
    expect(await text('/metrics')).not.toMatch(/rollkeeper_unreadable_resources\{.*\} 1/);
  });
});

function kubeconfigFor(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server } }],
    users: [{ name: 'test', user: { token: TOKEN } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  });
}

function aReplicaSet(name: string): ReplicaSet {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
    },
  };
}
