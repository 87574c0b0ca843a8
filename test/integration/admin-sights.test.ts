import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FakeClock } from '../../src/machinery/clock/index.js';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import { Deployment, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { AdminModule } from '../../src/rollkeeper/admin/server/admin.module.js';
import type { AdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.js';
import type { AdminServer } from '../../src/rollkeeper/admin/server/nest-admin-server.js';
import { sightOf } from '../../src/rollkeeper/admin/server/route-sight.js';
import { DecisionLog, RunningSyncs } from '../../src/rollkeeper/insight/explain/index.js';
import { anAdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import { MemoryWorkQueue } from '../../src/runtime/work-queue/index.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { FakeInformers } from '../../src/testing/fake-informers.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { TEAM_TOKEN, asTheTeam, startTeamsAdmin } from './support/shop-team.js';

/** In everything that is known about the namespace `secret`. */
const CANARY = 'canary';
const TRACE = 'abcdef';
/** Values for the parameters of a path; each leads to the canary. */
const PARAMETERS: Readonly<Record<string, string>> = {
  check: 'ping',
  controller: 'deployment',
  file: 'app.js',
  id: TRACE,
  kind: 'deployments',
  name: CANARY,
  namespace: 'secret',
  resource: 'deployments',
  verb: 'restart',
};
const QUERIES: Readonly<Record<string, string>> = {
  '/admin/local/decisions': '?since=0',
  '/admin/queues/:controller/key': `?key=secret/${CANARY}`,
  '/admin/rollouts/:namespace/:name/changes': '?revision=1',
};

/** The rights of a team that may read the namespace `shop`, and may ask what it may do. */
class TeamsCluster extends FakeCluster {
  override async create<T extends KubernetesObject>(type: ResourceType, object: T): Promise<T> {
    if (type.resource !== 'selfsubjectaccessreviews') return super.create(type, object);
    const { spec } = object as T & { spec: { resourceAttributes: { namespace: string } } };
    return { ...object, status: { allowed: spec.resourceAttributes.namespace === 'shop' } };
  }
}

function seeded<T extends FakeCluster>(cluster: T): T {
  for (const [namespace, name] of [
    ['shop', 'web'],
    ['secret', CANARY],
  ] as const)
    cluster.seed(Deployment, {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: { name, namespace },
      spec: {
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ name: 'c', image: `${name}:1` }] },
        },
      },
    } as never);
  return cluster;
}

/** A replica that knows as much about `secret/canary` as about `shop/web`. */
async function knowing(): Promise<Partial<AdminPorts> & { readonly clock: FakeClock }> {
  const cluster = seeded(new FakeCluster());
  const informers = new FakeInformers(cluster);
  informers.informerFor(ReplicaSet);
  const ports = anAdminPorts({ informers, client: cluster });
  const decisions = new DecisionLog();
  const running = new RunningSyncs(ports.clock);
  const queue = new MemoryWorkQueue({ name: 'deployment', clock: ports.clock });
  for (const key of ['shop/web', `secret/${CANARY}`, `${CANARY}-of-the-cluster`]) {
    decisions.add({
      ...{ atMs: 1, controller: 'deployment', key, replica: 'controller-0', traceId: TRACE },
      actions: [`scale ${key}`],
    });
    running.start('deployment', key);
    await queue.add(key, { reason: 'user-change', priority: 'high' });
    await queue.park(`${key}-parked`, new Error(`refused: ${key}`));
    await queue.addAfter(`${key}-later`, 60_000, { reason: 'requeue' });
  }
  return {
    ...ports,
    queues: () => new Map([['deployment', queue]]),
    decisions,
    running,
    traces: { of: () => [aSpan('shop/web'), aSpan(`secret/${CANARY}`), aSpan(undefined)] },
    clientAs: () => seeded(asTheTeamThatAsks()),
  };
}

/** Refuses other namespaces, except for questions about the team's own rights. */
function asTheTeamThatAsks(): TeamsCluster {
  return asTheTeam(new TeamsCluster());
}

function aSpan(key: string | undefined) {
  return {
    ...{
      spanId: String(key),
      name: `sync ${key ?? CANARY}`,
      replica: 'controller-0',
      startMs: 1,
      durationMs: 1,
    },
    failed: false,
    attributes: key === undefined ? {} : { 'rollkeeper.key': key },
  };
}

describe('every read of the admin port', () => {
  let server: AdminServer;
  let clock: FakeClock;

  beforeAll(async () => {
    const ports = await knowing();
    clock = ports.clock;
    server = await startTeamsAdmin(ports);
  });
  afterAll(() => server.close());

  const read = async (path: string, token?: string) => {
    const stop = new AbortController();
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.url}${path}`, { headers, signal: stop.signal, redirect: 'manual' });
    const isStream = answer.headers.get('content-type') === 'text/event-stream';
    const body = isStream ? await firstEvents(answer, clock) : await answer.text();
    stop.abort();
    return { status: answer.status, body: body.replaceAll(path.split('?')[0] ?? '', '') };
  };

  const paths = (): [route: string, path: string][] =>
    server
      .routes()
      .filter((route) => route !== '/' && !route.startsWith('/console/'))
      .map((route) => [
        route,
        route.replace(/:(\w+)/g, (_, name: string) => PARAMETERS[name] ?? `no-value-for-${name}`) +
          (QUERIES[route] ?? ''),
      ]);

  it('has a value for each parameter of its path in this test', () => {
    expect(paths().filter(([, path]) => path.includes('no-value-for'))).toEqual([]);
  });

  it('shows a user of one namespace no object of another one, by any path', async () => {
    const leaks: string[] = [];
    for (const [route, path] of paths()) {
      const { body, status } = await read(path, TEAM_TOKEN);
      // A refusal repeats the name that the caller gave.
      const isAsked = path.includes(CANARY) && status >= 400;
      if (!isAsked && body.includes(CANARY)) leaks.push(`${route}: ${body.slice(0, 200)}`);
      if (isAsked && body.replaceAll(`secret/${CANARY}`, '').includes(`${CANARY}:1`)) leaks.push(route);
    }
    expect(leaks).toEqual([]);
  });

  it('shows the same user their own namespace', async () => {
    for (const path of [
      '/admin/deployments',
      '/admin/local',
      '/admin/local/decisions?since=0',
      '/admin/replicas',
      '/admin/queues/deployment',
      '/admin/events',
      `/admin/traces/${TRACE}`,
      `/admin/local/traces/${TRACE}`,
    ])
      expect((await read(path, TEAM_TOKEN)).body, path).toContain(
        'shop/web'.replace('/', path === '/admin/deployments' ? '","name":"' : '/'),
      );
  });

  it('shows a user of this machine all of them, so the canary is there to be found', async () => {
    const found: string[] = [];
    for (const [route, path] of paths()) if ((await read(path)).body.includes(CANARY)) found.push(route);
    expect(found).toEqual(
      expect.arrayContaining([
        '/admin/deployments',
        '/admin/local',
        '/admin/local/decisions',
        '/admin/replicas',
        '/admin/queues/:controller',
        '/admin/events',
        '/admin/traces/:id',
        '/admin/local/traces/:id',
        '/admin/explain/deployments/:namespace/:name',
        '/admin/objects/:kind',
      ]),
    );
  });

  it('does not say whether a key of another namespace exists, nor changes it', async () => {
    for (const key of [`secret/${CANARY}`, 'secret/none', 'of-the-cluster'])
      expect((await read(`/admin/queues/deployment/key?key=${key}`, TEAM_TOKEN)).status).toBe(403);
    const headers = { authorization: `Bearer ${TEAM_TOKEN}`, 'content-type': 'application/json' };
    for (const act of ['requeue', 'park', 'unpark', 'purge']) {
      const body = JSON.stringify({ key: `secret/${CANARY}` });
      const url = `${server.url}/admin/queues/deployment/${act}`;
      expect((await fetch(url, { method: 'POST', headers, body })).status, act).toBe(403);
    }
    expect((await read('/admin/queues/deployment/key?key=shop/web', TEAM_TOKEN)).status).toBe(200);
  });

  it('refuses the pages of BullMQ to a user who does not see all namespaces', async () => {
    const answer = await read('/admin/bull-board/api/queues', TEAM_TOKEN);
    expect(answer).toEqual({
      status: 403,
      body: JSON.stringify({ error: 'shop-team may not list Deployments of all namespaces' }),
    });
  });

  it('comes from a handler that declares what it shows', () => {
    const controllers = Reflect.getMetadata('controllers', AdminModule) as readonly Handlers[];
    const undeclared = controllers.flatMap((controller) =>
      handlersOf(controller)
        .filter(([, handler]) => sightOf(handler, controller) === undefined)
        .map(([name]) => `${controller.name}.${name}`),
    );
    expect(controllers.length).toBeGreaterThan(10);
    expect(undeclared).toEqual([]);
  });
});

type Handlers = (new (...args: never[]) => object) & { readonly name: string };

function handlersOf({ prototype }: Handlers): [name: string, handler: object][] {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype) as Record<string, PropertyDescriptor>)
    .map(([name, { value }]): [string, unknown] => [name, value])
    .filter((entry): entry is [string, object] => {
      const [, handler] = entry;
      return (
        typeof handler === 'function' &&
        Reflect.hasMetadata(METHOD_METADATA, handler) &&
        Reflect.hasMetadata(PATH_METADATA, handler)
      );
    });
}

/** The text of a stream, until it has shown decisions and the cluster. */
async function firstEvents(answer: Response, clock: FakeClock): Promise<string> {
  let text = '';
  let hasEnded = false;
  const reading = (async () => {
    for await (const chunk of answer.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
  })()
    .catch(() => undefined)
    .finally(() => (hasEnded = true));
  await waitFor(
    async () => {
      await clock.advance(1000);
      return hasEnded || (text.includes('event: decisions') && text.includes('event: cluster'));
    },
    { what: 'the first events of the stream' },
  );
  void reading;
  return text;
}
