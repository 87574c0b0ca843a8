import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AdminPorts } from '../../src/rollkeeper/admin/server/admin-ports.js';
import { ADMIN_TOKEN } from '../../src/rollkeeper/admin/server/admin-ports.fixture.js';
import type { AccessVerdict } from '../../src/rollkeeper/admin/delegated-access/index.js';
import { PeerClient, proofOf } from '../../src/rollkeeper/admin/server/peer-client.js';
import { SealedSessions } from '../../src/rollkeeper/admin/sign-in/index.js';
import { FakeCluster } from '../../src/testing/fake-cluster.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { TEAM_TOKEN, asTheTeam } from './support/shop-team.js';
import { FeedReader } from './support/feed-reader.js';
import { SlotReplicasHarness, aDeploymentOf, seedDeployment } from './support/slot-replicas.js';

/** The rights of a team that may list Deployments of the namespace `shop`. */
class TeamsCluster extends FakeCluster {
  override async create<T extends KubernetesObject>(type: ResourceType, object: T): Promise<T> {
    if (type.resource !== 'selfsubjectaccessreviews') return super.create(type, object);
    const { spec } = object as T & { spec: { resourceAttributes: { namespace: string } } };
    return { ...object, status: { allowed: spec.resourceAttributes.namespace === 'shop' } };
  }
}

/** The credentials with which a replica was asked. */
const asked: (string | undefined)[] = [];

function lettingTheTeamIn(): Partial<AdminPorts> {
  const cluster = asTheTeam(new TeamsCluster());
  seedDeployment(cluster, 'shop', 'web');
  return {
    clientAs: () => cluster,
    delegated: {
      judge: async ({ token }): Promise<AccessVerdict> => {
        asked.push(token);
        return token === TEAM_TOKEN
          ? { verdict: 'allowed', user: 'shop-team' }
          : { verdict: 'unauthenticated' };
      },
    },
  };
}

/** The headers with which a replica passes on a request of this caller. */
async function headersPassed(caller: string, credential: string): Promise<IncomingHttpHeaders> {
  const server = createServer(({ headers }, response) => void response.end(JSON.stringify(headers)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const adminUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const peer = { identity: 'r1', adminUrl, pid: 1, startedAtMs: 0 };
  const client = new PeerClient(ADMIN_TOKEN);
  const proved = { ...peer, proof: proofOf(peer, ADMIN_TOKEN) };
  const { answer } = await client.read<IncomingHttpHeaders>(proved, { path: '/', caller, credential });
  client.close();
  server.close();
  const names = ['authorization', 'x-rollkeeper-caller', 'x-rollkeeper-caller-proof'];
  return Object.fromEntries(names.map((name) => [name, answer?.[name]]));
}

/** Sends the path as it is: `fetch` would change it. */
async function rawGet(
  url: string,
  path: string,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const { hostname, port } = new URL(url);
  const sent = get({ hostname, port, path });
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, text: await readText(answer) };
}

describe('a replica that shares namespaces with others by slots', () => {
  let harness: SlotReplicasHarness;
  let url: string;
  let readers: FeedReader[];
  let logged: unknown[][];

  beforeEach(async () => {
    asked.length = 0;
    readers = [];
    harness = new SlotReplicasHarness();
    logged = [];
    const logger = { ...silentLogger, info: (...line: unknown[]) => void logged.push(line) };
    ({ url } = await harness.start('r0', ['bank/ledger'], { ...lettingTheTeamIn(), logger }));
    await harness.start('r1', ['shop/web', 'secret/vault'], lettingTheTeamIn());
  });
  afterEach(async () => {
    for (const reader of readers) reader.close();
    await harness.stop();
  });

  const ask = async (
    path: string,
    {
      body,
      method = 'GET',
      token = ADMIN_TOKEN,
    }: { readonly body?: object; readonly method?: string; readonly token?: string } = {},
  ) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return {
      status: answer.status,
      warning: answer.headers.get('warning'),
      body: await answer.json(),
    };
  };
  const look = async (token = ADMIN_TOKEN, path = '/admin/events', from = url): Promise<FeedReader> => {
    const reader = new FeedReader(() => harness.clocks.values());
    readers.push(reader);
    await reader.open(`${from}${path}`, token);
    return reader;
  };
  const keysOf = (rows: unknown): string[] =>
    (rows as readonly { namespace: string; name: string }[])
      .map(({ name, namespace }) => `${namespace}/${name}`)
      .sort();

  it('lists the Deployments of all of them', async () => {
    const { body, warning } = await ask('/admin/deployments');
    expect(keysOf(body)).toEqual(['bank/ledger', 'secret/vault', 'shop/web']);
    expect(warning).toBeNull();
  });

  it('lists its own alone to another replica', async () => {
    expect(keysOf((await ask('/admin/deployments?scope=replica')).body)).toEqual(['bank/ledger']);
  });

  it('names the replica that does not answer, and what that means', async () => {
    harness.announce('r1', 'http://127.0.0.1:9');
    const { body, status, warning } = await ask('/admin/deployments');
    expect(status).toBe(200);
    expect(keysOf(body)).toEqual(['bank/ledger']);
    expect(warning).toMatch(
      /^299 - "r1, which works on 2 slots, gives no usable answer: .*; its part is missing"$/,
    );
  });

  it('names an owner of slots that has not announced itself', async () => {
    harness.peers = [];
    expect((await ask('/admin/deployments')).warning).toContain(
      'r1, which works on 2 slots, gives no usable answer',
    );
  });

  it('explains a Deployment of another replica, by asking that one', async () => {
    const { body, status } = await ask('/admin/explain/deployments/shop/web');
    expect(status).toBe(200);
    expect(body).toMatchObject({ namespace: 'shop', name: 'web', cause: 'parked' });
  });

  it('passes on that another replica knows no such Deployment', async () => {
    const { body, status } = await ask('/admin/explain/deployments/shop/other');
    expect([status, body]).toEqual([404, { error: 'no Deployment shop/other' }]);
  });

  it('names the owner and its address where that does not answer', async () => {
    harness.announce('r1', 'http://127.0.0.1:9');
    const { body, status } = await ask('/admin/explain/deployments/shop/web');
    expect(status).toBe(503);
    expect(body).toMatchObject({
      error: expect.stringMatching(
        /^r1 \(http:\/\/127\.0\.0\.1:9\), which works on the slot of the namespace shop, /,
      ),
    });
  });

  it('shows the steps and revisions of a rollout of another replica', async () => {
    expect((await ask('/admin/rollouts/shop/web')).body).toEqual({ history: [], canRetry: false });
  });

  it('adds up the queues, and shows the keys of all', async () => {
    expect((await ask('/admin/queues')).body).toMatchObject([
      { controller: 'deployment', counts: { parked: 3 } },
    ]);
    const { body } = await ask('/admin/queues/deployment');
    const { counts, parked } = body as { counts: object; parked: { key: string }[] };
    expect(counts).toMatchObject({ parked: 3 });
    expect(parked.map(({ key }) => key).sort()).toEqual(['bank/ledger', 'secret/vault', 'shop/web']);
  });

  describe('meets another server at the address of one of them, and', () => {
    let foreign: Server;
    let answer: string;

    beforeEach(async () => {
      foreign = createServer((_request, response) => void response.end(answer));
      foreign.listen(0, '127.0.0.1');
      await once(foreign, 'listening');
      harness.announce('r1', `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`);
    });
    afterEach(() => void foreign.close());

    it.each(['null', '{}', '[null]', '[{"controller":"deployment"}]', '{"parked":[{}]}', '<html>'])(
      'names it if it answers %s, and shows the queues without its part',
      async (text) => {
        answer = text;
        for (const path of ['/admin/queues', '/admin/queues/deployment', '/admin/deployments']) {
          const { body, status, warning } = await ask(path);
          expect([path, status]).toEqual([path, 200]);
          expect(warning).toMatch(
            /^299 - "r1, which works on 2 slots, gives no usable answer: .*; its part is missing"$/,
          );
          expect(JSON.stringify(body)).not.toMatch(/null|vault/);
        }
        const key = await ask('/admin/queues/deployment/key?key=shop/web');
        expect(key).toMatchObject({ status: 503, body: { error: expect.stringMatching(/^r1 \(http/) } });
        const park = { method: 'POST', body: { key: 'shop/web' } };
        expect((await ask('/admin/queues/deployment/park', park)).status).toBe(503);
        for (const page of ['/admin/explain/deployments/shop/web', '/admin/rollouts/shop/web'])
          expect((await ask(page)).status).toBe(503);
      },
    );

    it('says what it expected if keys come without what is read of them', async () => {
      const parked = [{ key: 'shop/web', error: 'refused', retries: 1 }];
      answer = JSON.stringify({
        ...{ controller: 'deployment', counts: { waiting: 0, active: 0, delayed: 0, parked: 1 } },
        ...{ waiting: [], delayed: [], parked, running: [] },
      });
      const { body, warning } = await ask('/admin/queues/deployment');
      expect(warning).toContain('it answers with something else than the keys of a queue');
      expect(body).toMatchObject({ counts: { parked: 1 }, parked: [{ key: 'bank/ledger' }] });
    });
  });

  it('looks a key up, and takes it out, where it is', async () => {
    expect((await ask('/admin/queues/deployment/key?key=shop/web')).body).toMatchObject({
      parked: { error: 'refused: shop/web' },
    });
    const purged = await ask('/admin/queues/deployment/purge', { method: 'POST', body: { key: 'shop/web' } });
    expect(purged.status).toBe(200);
    expect((await ask('/admin/queues/deployment')).body).toMatchObject({ counts: { parked: 2 } });
  });

  it('passes a change to the owner of the namespace that the controller finds in the key, and logs whose it is', async () => {
    const key = 'deployments.apps|shop/web';
    const parked = await ask('/admin/queues/deployment/park', { method: 'POST', body: { key } });
    expect(parked.status).toBe(200);
    expect((await ask(`/admin/queues/deployment/key?key=${key}`)).body).toMatchObject({ parked: { key } });
    expect(logged).toEqual([
      [
        'a change was passed to the owner of its namespace',
        {
          ...{ owner: 'r1', key, method: 'POST', path: '/admin/queues/deployment/park' },
          from: expect.stringContaining('127.0.0.1'),
        },
      ],
    ]);
  });

  it('answers HEAD as GET, without a body', async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const answer = await fetch(`${url}/admin/explain/deployments/shop/web`, { method: 'HEAD', headers });
    expect(answer.status).toBe(200);
  });

  it.each([
    ['a relative segment', '/admin/rollouts/%2e%2e/status'],
    ['a backslash', '/admin/rollouts/shop/..\\..\\status'],
  ])(
    'asks another replica for no other page than the one that was asked for, with %s in the path',
    async (_what, path) => {
      // A reader on this machine needs no token, and the replicas ask each other with theirs.
      harness.slots.owners.set('..', 'r1');
      const { status, text } = await rawGet(url, path);
      expect([status, text]).toEqual([400, expect.stringContaining('error')]);
    },
  );

  describe('in its console', () => {
    it('shows the rows of all of them, and adds up their queues', async () => {
      const viewer = await look();
      await viewer.sees(['bank/ledger', 'secret/vault', 'shop/web']);
      await viewer.waits(() => viewer.parkedOf('deployment') === 3, 'the queues of all');
      expect(viewer.missing).toBeUndefined();
    });

    it('shows what changes at another one', async () => {
      const viewer = await look();
      await viewer.sees(['bank/ledger', 'secret/vault', 'shop/web']);
      const cluster = harness.clusters.get('r1');
      await cluster?.create(Deployment, aDeploymentOf('shop', 'api'));
      await cluster?.delete(Deployment, { namespace: 'shop', name: 'web' });
      await viewer.sees(['bank/ledger', 'secret/vault', 'shop/api']);
    });

    it('names the one that stops, and shows its rows no longer', async () => {
      const viewer = await look();
      await viewer.sees(['bank/ledger', 'secret/vault', 'shop/web']);
      await harness.servers.get('r1')?.close();
      await viewer.waits(() => viewer.missing?.[0]?.identity === 'r1', 'r1 to be named');
      expect(viewer.missing).toMatchObject([{ slots: 2, problem: expect.any(String) }]);
      await viewer.sees(['bank/ledger']);
    });

    it('keeps a row while its slot moves here from another one, and has it once', async () => {
      const viewer = await look();
      await viewer.sees(['bank/ledger', 'secret/vault', 'shop/web']);
      seedDeployment(harness.clusters.get('r0') ?? new FakeCluster(), 'shop', 'web');
      harness.slots.move('shop', 'r0');
      await viewer.waits(() => viewer.tellings('shop/web') > 1, 'the new owner to tell of it');
      await viewer.passes(5000);
      expect(viewer.keys()).toEqual(['bank/ledger', 'secret/vault', 'shop/web']);
      expect(viewer.everGone).toEqual([]);
    });

    it('shows no row of a slot that has left it and that no replica tells of', async () => {
      const viewer = await look();
      await viewer.sees(['bank/ledger', 'secret/vault', 'shop/web']);
      harness.slots.move('bank', 'r9');
      await viewer.sees(['secret/vault', 'shop/web']);
      expect(viewer.missing).toMatchObject([{ identity: 'r9', slots: 1 }]);
    });

    it('shows a user of one namespace the rows of that one, from any replica', async () => {
      asked.length = 0;
      const viewer = await look(TEAM_TOKEN);
      await viewer.sees(['shop/web']);
      await viewer.waits(() => viewer.parkedOf('deployment') === 1, 'the queue');
      expect(viewer.text).not.toMatch(/ledger|vault/);
      expect(new Set(asked)).toEqual(new Set([TEAM_TOKEN]));
    });

    it('asks a replica that knows the token of the user no longer only once', async () => {
      let asks = 0;
      const judge = async (): Promise<AccessVerdict> => {
        asks++;
        return { verdict: 'unauthenticated' };
      };
      await harness.start('r2', ['shop2/web'], { ...lettingTheTeamIn(), delegated: { judge } });
      const viewer = await look(TEAM_TOKEN);
      const isNamed = () => viewer.missing?.some(({ identity }) => identity === 'r2') === true;
      await viewer.waits(isNamed, 'r2 to be named');
      expect(viewer.missing).toMatchObject([{ problem: expect.stringContaining('sign in again') }]);
      await viewer.passes(20_000);
      expect(asks).toBe(1);
    });

    it('sends another replica its own rows alone, and only those that the user may see', async () => {
      const viewer = await look(TEAM_TOKEN, '/admin/events?scope=replica', harness.servers.get('r1')?.url);
      await viewer.sees(['shop/web']);
      expect(viewer.text).not.toMatch(/ledger|vault/);
    });
  });

  describe('asked by a user of one namespace', () => {
    const token = TEAM_TOKEN;

    it('asks the others with the credential of the user, and shows that namespace alone', async () => {
      const { body } = await ask('/admin/deployments', { token });
      expect(keysOf(body)).toEqual(['shop/web']);
      // Once for each replica, and never with the token that the replicas share.
      expect(asked).toEqual([TEAM_TOKEN, TEAM_TOKEN]);
      const { body: queue } = await ask('/admin/queues/deployment', { token });
      expect(JSON.stringify(queue)).not.toMatch(/ledger|vault/);
      expect(queue).toMatchObject({ parked: [{ key: 'shop/web' }] });
    });

    it('takes nothing from the limit of another user at the owner, who asks by the same replica', async () => {
      const path = '/admin/queues/deployment/key?key=shop/web';
      const from = async (localAddress: string): Promise<number | undefined> => {
        const { hostname, port } = new URL(url);
        const headers = { authorization: `Bearer ${token}` };
        const sent = get({ hostname, port, path, headers, localAddress });
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        answer.resume();
        return answer.statusCode;
      };
      for (let count = 0; count < 400; count++) await from('127.0.0.1');
      expect(await from('127.0.0.1')).toBe(429);
      expect(await from('127.0.0.2')).toBe(200);
    });

    it('cannot choose the address under which the owner counts it', async () => {
      const other = harness.servers.get('r1')?.url ?? '';
      const claims = (number: number) => ({
        authorization: `Bearer ${token}`,
        'x-rollkeeper-caller': `10.0.0.${number}`,
        'x-rollkeeper-caller-proof': 'made up',
      });
      const statuses = new Set<number>();
      for (let count = 0; count <= 400; count++)
        statuses.add((await fetch(`${other}/admin/session`, { headers: claims(count % 200) })).status);
      expect(statuses).toContain(429);
    });

    describe('with the session of a browser, at an owner', () => {
      /** @param replica its address */
      const passOn = async (replica: string, caller: string, secret: string): Promise<number | undefined> => {
        const { hostname, port } = new URL(harness.servers.get('r1')!.url);
        const { session } = new SealedSessions(harness.clocks.get('r1')!, ADMIN_TOKEN).seal({
          token: secret,
        });
        const headers = await headersPassed(caller, session);
        const sent = get({
          hostname,
          port,
          path: '/admin/deployments?scope=replica',
          headers,
          localAddress: replica,
        });
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        answer.resume();
        return answer.statusCode;
      };

      beforeEach(async () => {
        for (let count = 0; count < 10; count++)
          expect(await passOn('127.0.0.1', '127.0.0.1', 'ended')).toBe(401);
        expect(await passOn('127.0.0.1', '127.0.0.1', 'ended')).toBe(429);
      });

      it('is not locked out by sessions whose tokens have ended of another user at the same replica', async () => {
        expect(await passOn('127.0.0.1', '10.0.0.2', TEAM_TOKEN)).toBe(200);
      });

      it('is not locked out by a user who has the same address at another replica, as on the loopback', async () => {
        expect(await passOn('127.0.0.3', '127.0.0.1', TEAM_TOKEN)).toBe(200);
      });
    });

    it('is shown by the other replica itself no more than that', async () => {
      const headers = { authorization: `Bearer ${token}` };
      const other = harness.servers.get('r1')?.url ?? '';
      const answer = await fetch(`${other}/admin/deployments?scope=replica`, { headers });
      expect(keysOf(await answer.json())).toEqual(['shop/web']);
    });

    it('refuses the rest before any other replica is asked', async () => {
      expect((await ask('/admin/explain/deployments/shop/web', { token })).status).toBe(200);
      asked.length = 0;
      expect((await ask('/admin/explain/deployments/secret/vault', { token })).status).toBe(403);
      expect((await ask('/admin/queues/deployment/key?key=secret/vault', { token })).status).toBe(403);
      expect(asked).toHaveLength(2);
    });

    it('sends the credential to no address whose replica has not proved to have the admin token', async () => {
      const other = harness.servers.get('r1')?.url ?? '';
      harness.announce('r1', other, 'another token, made up by a writer to Redis');
      asked.length = 0;
      const { body, warning } = await ask('/admin/deployments', { token });
      expect(body).toEqual([]);
      expect(warning).toContain('it does not have the admin token of this replica');
      expect(asked).toHaveLength(1);
    });
  });
});
