import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Deployment, Namespace, Pod, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import type { WholeRequest } from '../chaos/set/replica-answers.js';
import type { GivenAnswer } from '../../src/testing/faults/given-answer.js';
import type { ChaosSetOptions } from '../chaos/set/chaos-set.js';
import { ChaosSet } from '../chaos/set/chaos-set.js';
import type { ChaosReplica } from '../chaos/set/replica.js';
import { aDeployment } from '../e2e/support/a-deployment.js';

const DIST = join(import.meta.dirname, '..', '..', 'dist');
const CONTROLLERS = ['--controllers', 'deployment,replicaset'];

let set: ChaosSet;

afterEach(async () => {
  await set.stop();
  set.remove();
});

async function start(options: Partial<ChaosSetOptions>): Promise<void> {
  set = await ChaosSet.start({ dist: DIST, replicas: 1, random: Math.random, ...options });
}

function labelled(name: string, labels: Record<string, string>, namespace = 'default'): Deployment {
  const deployment = aDeployment({ name, replicas: 3 });
  return { ...deployment, metadata: { ...deployment.metadata, namespace, labels } };
}

async function rolledOut(name: string, namespace = 'default'): Promise<void> {
  await waitFor(
    async () => {
      const { metadata, spec, status } = await set.client.get<Deployment>(Deployment, { namespace, name });
      return (
        status?.observedGeneration === metadata.generation &&
        status?.availableReplicas === spec.replicas &&
        status?.updatedReplicas === spec.replicas &&
        status?.replicas === spec.replicas
      );
    },
    { intervalMs: 100, what: `${namespace}/${name} to be rolled out` },
  );
}

const patch = (name: string, body: unknown): Promise<Deployment> =>
  set.client.patch<Deployment>(Deployment, { namespace: 'default', name }, { type: 'strategic', body });

const withImage = (image: string): unknown => ({
  spec: { template: { spec: { containers: [{ name: 'web', image }] } } },
});

describe('installations that share out the Deployments of a cluster by their labels', () => {
  /** The replicas that wrote to each Deployment, by the names that begin with the Deployment's. */
  const writers = new Map<string, Set<string>>();

  function watchWrites({ apiAnswers, name }: ChaosReplica): void {
    apiAnswers.onWrite = ({ body, path, when }) => {
      if (when === 'after' || path.includes('/events')) return;
      const target = /"name":"([\w-]+)"/.exec(body.toString())?.[1] ?? path.split('/').at(-1) ?? '';
      const text = `${path} ${target}`;
      for (const workload of ['web-a', 'web-b', 'alone']) {
        if (!text.includes(workload)) continue;
        writers.set(workload, (writers.get(workload) ?? new Set()).add(name));
      }
    };
  }

  it('work each on its own, hand one over by its label, and never on the same', async () => {
    await start({
      replicas: 3,
      controllerArgs: (index) => [...CONTROLLERS, '--selector', index < 2 ? 'shard=a' : 'shard!=a'],
      prepare: watchWrites,
    });
    const [a, b] = [new Set(['controller-0', 'controller-1']), new Set(['controller-2'])];
    const wroteOnly = (workload: string, who: ReadonlySet<string>): void => {
      const wrote = writers.get(workload) ?? new Set();
      expect(
        [...wrote].filter((name) => !who.has(name)),
        `who else wrote to ${workload}`,
      ).toEqual([]);
      expect(wrote.size).toBeGreaterThan(0);
      writers.delete(workload);
    };
    await set.client.create(Deployment, labelled('web-a', { shard: 'a' }));
    await set.client.create(Deployment, labelled('web-b', {}));
    const alone: ReplicaSet = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'alone', namespace: 'default', labels: { shard: 'a' } },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'alone' } },
        template: {
          metadata: { labels: { app: 'alone' } },
          spec: { containers: [{ name: 'c', image: 'c' }] },
        },
      },
    };
    await set.client.create(ReplicaSet, alone);
    await Promise.all([rolledOut('web-a'), rolledOut('web-b')]);
    await waitFor(
      async () =>
        (await set.client.get<ReplicaSet>(ReplicaSet, alone.metadata)).status?.availableReplicas === 2,
      { intervalMs: 100, what: 'the ReplicaSet of nobody' },
    );
    wroteOnly('web-a', a);
    wroteOnly('web-b', b);
    wroteOnly('alone', a);

    await patch('web-b', { metadata: { labels: { shard: 'a' } } });
    // Nothing tells from outside when both caches have seen the label; a change that comes later does.
    await waitFor(async () => {
      writers.delete('web-b');
      await patch('web-b', {
        metadata: { annotations: { at: String(performance.now()) } },
        spec: { paused: true },
      });
      await patch('web-b', { spec: { paused: false } });
      await rolledOut('web-b');
      return [...(writers.get('web-b') ?? [])].every((name) => a.has(name)) && writers.has('web-b');
    });
    writers.delete('web-b');
    await patch('web-b', withImage('web:2'));
    await rolledOut('web-b');
    wroteOnly('web-b', a);
    const pods = await set.client.list<Pod>(Pod, { namespace: 'default', labelSelector: 'app=web-b' });
    expect(pods.items.filter(({ metadata }) => !metadata.deletionTimestamp)).toHaveLength(3);
  });
});

describe('an installation with rights in some namespaces alone', () => {
  const NAMESPACED = /^\/apis?\/[^?]*\/namespaces\/(team-a|team-b)\//;

  it('works there, asks elsewhere only which cluster this is and for what Namespaces say, and leaves the others alone', async () => {
    const refused = new Set<string>();
    const judge = ({ method, path }: WholeRequest): GivenAnswer | undefined => {
      if (NAMESPACED.test(path) || path === '/readyz' || path === '/version') return undefined;
      refused.add(`${method} ${path.replace(/\?.*/, '')}`);
      return { kind: 'status', code: 403, reason: 'Forbidden', message: 'not in this namespace' };
    };
    await start({
      replicas: 2,
      controllerArgs: [
        ...CONTROLLERS,
        ...['--namespaces', 'team-a,team-b', '--leader-elect-resource-namespace', 'team-a'],
      ],
      prepare: ({ apiAnswers }) => {
        apiAnswers.onRequest = judge;
        apiAnswers.onWatch = judge;
      },
    });
    for (const name of ['team-a', 'team-b'])
      await set.client.create<KubernetesObject>(Namespace, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      });
    await set.client.create(Deployment, labelled('elsewhere', {}));
    for (const namespace of ['team-a', 'team-b'])
      await set.client.create(Deployment, labelled('web', {}, namespace));
    await Promise.all([rolledOut('web', 'team-a'), rolledOut('web', 'team-b')]);
    const elsewhere = await set.client.get<Deployment>(Deployment, {
      namespace: 'default',
      name: 'elsewhere',
    });
    expect(elsewhere.status?.observedGeneration ?? 0).toBe(0);
    // Defaults in the annotations of Namespaces are for those who may read them.
    expect([...refused].sort()).toEqual(['GET /api/v1/namespaces', 'GET /api/v1/namespaces/kube-system']);
  });
});

describe('controllers with service accounts of their own', () => {
  it('work as these, by tokens that are renewed when the server refuses them', async () => {
    const callers = new Map<string, Set<string>>();
    let refuseBelow = 0;
    let issued = 0;
    await start({
      replicas: 2,
      controllerArgs: [
        ...CONTROLLERS,
        ...['--use-service-account-credentials', '--service-account-namespace', 'ops'],
        ...['--service-account-prefix', 'rk-'],
      ],
      prepare: ({ apiAnswers }) => {
        let ours: string | undefined;
        apiAnswers.onRequest = ({ headers, method, path }) => {
          const account = /^\/api\/v1\/namespaces\/ops\/serviceaccounts\/([\w-]+)\/token$/.exec(path)?.[1];
          if (account) {
            ours = headers.authorization;
            const expirationTimestamp = new Date(Date.now() + 3_600_000).toISOString();
            const status = { token: `${account}.${++issued}`, expirationTimestamp };
            return {
              kind: 'json',
              code: 201,
              json: { kind: 'TokenRequest', metadata: {}, spec: {}, status },
            };
          }
          const [, name = 'replica', number] =
            /^Bearer (rk-[\w-]+)\.(\d+)$/.exec(headers.authorization ?? '') ?? [];
          if (number !== undefined && Number(number) <= refuseBelow)
            return { kind: 'status', code: 401, reason: 'Unauthorized', message: 'the token has expired' };
          if (method !== 'GET') {
            const resource = /\/(deployments|replicasets|pods|events|leases)\b/.exec(path)?.[1] ?? path;
            callers.set(resource, (callers.get(resource) ?? new Set()).add(name));
          }
          if (number !== undefined) headers.authorization = ours;
          return undefined;
        };
      },
    });
    await set.client.create(Deployment, labelled('web', {}));
    await rolledOut('web');
    const accounts = {
      deployments: new Set(['rk-deployment-controller']),
      pods: new Set(['rk-replicaset-controller']),
      replicasets: new Set(['rk-deployment-controller', 'rk-replicaset-controller']),
    };
    expect(Object.fromEntries(callers)).toMatchObject(accounts);

    // As after a rotation of the server's keys.
    refuseBelow = issued;
    callers.clear();
    await patch('web', withImage('web:2'));
    await rolledOut('web');
    expect(Object.fromEntries(callers)).toMatchObject(accounts);
    expect(issued).toBeGreaterThan(refuseBelow);
  });
});
