import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpApiClient, HttpApiClientOptions } from '../../src/client/api-client/index.js';
import {
  ApiConnectionError,
  ApiProtocolError,
  ApiStatusError,
  bearerToken,
  createHttpApiClient,
  fixedCredentials,
  isAlreadyExists,
  isConflict,
  isNotFound,
  withWriteGuard,
} from '../../src/client/api-client/index.js';
import { FakeClock, SeededRandom, SystemClock } from '../../src/machinery/clock/index.js';
import { TimeoutError } from '../../src/machinery/errors/index.js';
import { Deployment, Node, Pod } from '../../src/machinery/kubernetes/index.js';
import type { Answer } from '../../src/testing/api-client-server.js';
import { ApiClientServer, hangUp, json, silence } from '../../src/testing/api-client-server.js';
import { waitFor } from '../../src/testing/wait-for.js';

let server: ApiClientServer;
let client: HttpApiClient;

function connect(options: Partial<HttpApiClientOptions> = {}): HttpApiClient {
  const connection = {
    serverUrl: server.url,
    tls: {},
    credentials: bearerToken('secret'),
    source: 'test',
  };
  return createHttpApiClient({
    connection,
    userAgent: 'rollkeeper/test',
    clock: new SystemClock(),
    random: new SeededRandom(1),
    ...options,
  });
}

beforeEach(async () => {
  server = await ApiClientServer.start();
  client = connect();
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'a', name },
  spec: { containers: [] },
});
const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'a', name: 'web' } };
const status = (code: number, reason: string, more: object = {}) =>
  json(code, {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: `it was ${reason}`,
    ...more,
  });

const sent = () => server.received.map(({ method, url }) => `${method} ${url}`);

describe('bytes on the wire', () => {
  it('addresses objects by group, version, namespace and name, with who we are', async () => {
    server.always(json(200, deployment));
    await client.get(Deployment, { namespace: 'a', name: 'web' });
    await client.get(Node, { name: 'n/1' });
    expect(sent()).toEqual(['GET /apis/apps/v1/namespaces/a/deployments/web', 'GET /api/v1/nodes/n%2F1']);
    expect(server.received[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      accept: 'application/json',
      'user-agent': 'rollkeeper/test',
    });
  });

  it('encodes selectors and continue tokens', async () => {
    server.always(json(200, { metadata: { resourceVersion: '7', continue: 'x/y+z=' }, items: [] }));
    const page = await client.list(Pod, {
      namespace: 'a',
      labelSelector: 'app in (a,b),tier!=x&y',
      limit: 500,
      continueToken: 'x/y+z=',
    });
    expect(page).toEqual({ items: [], resourceVersion: '7', continueToken: 'x/y+z=' });
    const url = new URL(server.received[0]?.url ?? '', server.url);
    expect(url.pathname).toBe('/api/v1/namespaces/a/pods');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      labelSelector: 'app in (a,b),tier!=x&y',
      limit: '500',
      continue: 'x/y+z=',
    });
  });

  it('fills in kind and apiVersion, which the items of a list lack', async () => {
    const items = [{ metadata: { name: 'web', namespace: 'a' }, spec: {} }];
    server.always(json(200, { kind: 'DeploymentList', metadata: { resourceVersion: '7' }, items }));
    const page = await client.list<Deployment>(Deployment);
    expect(page.items[0]).toMatchObject({ apiVersion: 'apps/v1', kind: 'Deployment' });
    expect(page.continueToken).toBeUndefined();
  });

  it('takes a list whose items are null as empty', async () => {
    server.always(json(200, { metadata: { resourceVersion: '7' }, items: null }));
    expect((await client.list(Pod)).items).toEqual([]);
  });

  it('creates, updates, patches and deletes with the method, path and content type that each has', async () => {
    server.always(json(200, pod('p')));
    await client.create(Pod, pod('p'));
    await client.create(Pod, pod('p'), { subresource: 'binding' });
    await client.update(Pod, pod('p'), { subresource: 'status' });
    await client.patch(Pod, pod('p').metadata, { type: 'strategic', body: { a: 1 } });
    await client.patch(Pod, pod('p').metadata, { type: 'merge', body: { a: 1 } });
    await client.patch(Pod, pod('p').metadata, { type: 'json', body: [] });
    await client.delete(Pod, pod('p').metadata, {
      preconditions: { uid: 'u', resourceVersion: '5' },
      propagationPolicy: 'Background',
      gracePeriodSeconds: 0,
    });
    const p = '/api/v1/namespaces/a/pods';
    expect(server.received.map(({ method, url, headers }) => [method, url, headers['content-type']])).toEqual(
      [
        ['POST', p, 'application/json'],
        ['POST', `${p}/p/binding`, 'application/json'],
        ['PUT', `${p}/p/status`, 'application/json'],
        ['PATCH', `${p}/p`, 'application/strategic-merge-patch+json'],
        ['PATCH', `${p}/p`, 'application/merge-patch+json'],
        ['PATCH', `${p}/p`, 'application/json-patch+json'],
        ['DELETE', `${p}/p`, 'application/json'],
      ],
    );
    expect(JSON.parse(server.received[6]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u', resourceVersion: '5' },
      propagationPolicy: 'Background',
      gracePeriodSeconds: 0,
    });
  });

  it('sends one request after the other, deletions too, over the same connection', async () => {
    await client.close();
    client = connect({ maxSockets: 1 });
    server.always(json(200, pod('x')));
    await client.create(Pod, pod('x'));
    await client.delete(Pod, { namespace: 'a', name: 'x' });
    await client.delete(Pod, { namespace: 'a', name: 'y' }, { gracePeriodSeconds: 0 });
    await client.get(Pod, { namespace: 'a', name: 'x' });
    expect(new Set(server.received.map(({ raw }) => raw.socket)).size).toBe(1);
  });

  it('keeps text beyond ASCII whole', async () => {
    server.always((response, request) => {
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(request.body);
    });
    const object = { ...pod('p'), note: 'größer als 🙂' };
    expect(await client.create(Pod, object)).toEqual(object);
  });

  it('never sends a request that would address a whole collection by mistake', async () => {
    await expect(client.delete(Pod, { namespace: 'a', name: '' })).rejects.toThrow('metadata.name');
    await expect(client.get(Pod, { name: 'p' })).rejects.toThrow('metadata.namespace');
    await expect(client.create(Pod, { ...pod('p'), metadata: { name: 'p' } })).rejects.toThrow(
      'metadata.namespace',
    );
    expect(server.received).toEqual([]);
  });
});

describe('leftovers of a deletion', () => {
  const metadata = { namespace: 'a', name: 'p', deletionTimestamp: '2026-01-01T00:00:00Z' };
  it.each([
    ['nothing, says a Status', { kind: 'Status', status: 'Success', metadata: {} }, false],
    [
      'nothing, says the last state',
      { kind: 'Pod', metadata: { ...metadata, deletionGracePeriodSeconds: 0 } },
      false,
    ],
    ['nothing, says a state that is not even terminating', { kind: 'Pod', metadata: { name: 'p' } }, false],
    [
      'the object in its grace period',
      { kind: 'Pod', metadata: { ...metadata, deletionGracePeriodSeconds: 30 } },
      true,
    ],
    ['the object with finalizers', { kind: 'Pod', metadata: { ...metadata, finalizers: ['x'] } }, true],
  ])('%s', async (_name, answer, there) => {
    server.always(json(200, answer));
    const result = await client.delete(Pod, { namespace: 'a', name: 'p' });
    expect(result).toEqual(there ? { object: answer } : {});
  });
});

describe('failures', () => {
  it.each([
    [404, 'NotFound', isNotFound],
    [409, 'Conflict', isConflict],
    [409, 'AlreadyExists', isAlreadyExists],
  ])('%i %s is known as what it is', async (code, reason, predicate) => {
    server.always(status(code, reason));
    const error = await client.create(Pod, pod('p')).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiStatusError);
    expect(predicate(error)).toBe(true);
    expect((error as Error).message).toBe(`it was ${reason}`);
  });

  it('shows what a stranger answered: a refusal that is no Status, a success that is no JSON', async () => {
    const page =
      (code: number): Answer =>
      (response) => {
        response.writeHead(code, { 'content-type': 'text/html' });
        response.end('<html>proxy</html>');
      };
    server.next(page(502), page(200));
    const refusal = await client.create(Pod, pod('p')).catch((thrown: unknown) => thrown);
    expect(refusal).toBeInstanceOf(ApiStatusError);
    expect((refusal as ApiStatusError).code).toBe(502);
    expect((refusal as Error).message).toContain('text/html instead of JSON: "<html>proxy</html>"');
    const stranger = client.get(Pod, { namespace: 'a', name: 'p' });
    await expect(stranger).rejects.toThrow(ApiProtocolError);
    await expect(stranger).rejects.toThrow('answered 200 with text/html instead of JSON');
  });

  it('repeats reads after a broken connection', async () => {
    server.next(hangUp, hangUp, json(200, pod('p')));
    await client.get(Pod, { namespace: 'a', name: 'p' });
    expect(server.received).toHaveLength(3);
  });

  it('never repeats a write after a broken connection', async () => {
    server.next(hangUp).always(json(201, pod('p')));
    await expect(client.create(Pod, pod('p'))).rejects.toThrow(ApiConnectionError);
    expect(server.received).toHaveLength(1);
  });

  it('repeats a write that the server says it has not done, not before it asked to', async () => {
    const busy = status(429, 'TooManyRequests', {});
    server.next(
      (response, request) => {
        response.setHeader('retry-after', '1');
        void busy(response, request);
      },
      json(201, pod('p')),
    );
    const clock = new FakeClock();
    const patient = connect({ clock });
    const creating = patient.create(Pod, pod('p'));
    await waitFor(() => server.received.length === 1 && clock.pendingTimers === 1);
    // The answer is read by now, or is being read: either way nothing may be sent within the second.
    await clock.advance(900);
    expect(server.received).toHaveLength(1);
    await waitFor(async () => {
      await clock.advance(100);
      return server.received.length === 2;
    });
    await creating;
    expect(clock.pendingTimers).toBe(0);
    await patient.close();
  });

  it('stops between two attempts of a write when the right to write is lost, and lets the first finish', async () => {
    const right = new AbortController();
    const guarded = withWriteGuard(client, right.signal);
    server.next((response) => {
      right.abort(new Error('the lock is lost'));
      response.writeHead(429, { 'retry-after': '0', 'content-type': 'application/json' });
      response.end('{}');
    });
    await expect(guarded.create(Pod, pod('p'))).rejects.toThrow('the lock is lost');
    await expect(guarded.update(Pod, pod('p'))).rejects.toThrow('the lock is lost');
    expect(server.received).toHaveLength(1);
  });

  it.each(['guard', 'clock'] as const)(
    'sends nothing of a write that waited for a connection until the right to write was lost, by its %s',
    async (lostBy) => {
      await client.close();
      client = connect({ maxSockets: 1 });
      const right = new AbortController();
      let isExpired = false;
      const guarded = withWriteGuard(client, right.signal, () => {
        if (isExpired) throw new Error('the lock is lost');
      });
      const answered = json(200, pod('p'));
      let answerNow = (): void => undefined;
      const told = new Promise<void>((resolve) => (answerNow = resolve));
      server.always(answered).next(async (response, request) => {
        await told;
        return answered(response, request);
      });
      const reading = client.get(Pod, { namespace: 'a', name: 'p' });
      await waitFor(() => server.received.length === 1);
      const late = guarded.create(Pod, pod('late')).catch((thrown: unknown) => thrown);
      // By the next turn it waits for the only connection.
      await new Promise((resolve) => setImmediate(resolve));
      if (lostBy === 'guard') right.abort(new Error('the lock is lost'));
      else isExpired = true;
      answerNow();
      expect(await late).toEqual(new Error('the lock is lost'));
      await reading;
      await client.get(Pod, { namespace: 'a', name: 'p' });
      expect(server.received.map(({ method }) => method)).toEqual(['GET', 'GET']);
      expect(new Set(server.received.map(({ raw }) => raw.socket)).size).toBe(1);
    },
  );

  it('gives up on a server that accepts and never answers', async () => {
    server.always(silence);
    const clock = new FakeClock();
    const impatient = connect({ clock });
    const reading = impatient.get(Pod, { namespace: 'a', name: 'p' }).catch((thrown: unknown) => thrown);
    await waitFor(() => server.received.length === 1);
    await clock.advance(32_000);
    expect(await reading).toBeInstanceOf(TimeoutError);
    expect(server.received).toHaveLength(1);
    await impatient.close();
  });

  it('rejects at once with the reason of the signal', async () => {
    server.always(silence);
    const leave = new AbortController();
    const reading = client.get(Pod, { namespace: 'a', name: 'p' }, { signal: leave.signal });
    await waitFor(() => server.received.length === 1);
    leave.abort(new Error('no more need'));
    await expect(reading).rejects.toThrow('no more need');
    await expect(client.list(Pod, { signal: leave.signal })).rejects.toThrow('no more need');
    expect(server.received).toHaveLength(1);
  });

  it.each(['signal', 'guard'] as const)('leaves the wait for a repeat when its %s aborts', async (name) => {
    const refusal = status(429, 'TooManyRequests');
    server.always((response, request) => {
      response.setHeader('retry-after', '5');
      return refusal(response, request);
    });
    const clock = new FakeClock();
    const patient = connect({ clock });
    const [leave, other] = [new AbortController(), new AbortController()];
    const options = { signal: other.signal, guard: other.signal, [name]: leave.signal };
    const creating = patient.create(Pod, pod('p'), options).catch((thrown: unknown) => thrown);
    await waitFor(() => server.received.length === 1);
    await waitFor(() => clock.pendingTimers === 1);
    leave.abort(new Error('no more need'));
    expect(await creating).toEqual(new Error('no more need'));
    expect(clock.pendingTimers).toBe(0);
    expect(server.received).toHaveLength(1);
    await patient.close();
  });

  it('asks for new credentials once after 401, also for a write', async () => {
    const tokens = ['old', 'new'];
    let current = 0;
    const credentials = {
      headers: async () => ({ authorization: `Bearer ${tokens[current]}` }),
      invalidate: () => ++current < tokens.length,
    };
    const renewing = connect({ connection: { serverUrl: server.url, tls: {}, credentials, source: 'test' } });
    server.next(status(401, 'Unauthorized'), json(201, pod('p')), status(401, 'Unauthorized'));
    await renewing.create(Pod, pod('p'));
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
    await expect(renewing.create(Pod, pod('p'))).rejects.toThrow('it was Unauthorized');
    await renewing.close();
  });

  it('says where nobody listens', async () => {
    const gone = await ApiClientServer.start();
    const serverUrl = gone.url;
    await gone.stop();
    const lonely = connect({
      connection: { serverUrl, tls: {}, credentials: fixedCredentials({}), source: 'test' },
      maxAttempts: 1,
    });
    await expect(lonely.get(Node, { name: 'n' })).rejects.toThrow(
      new RegExp(`GET ${serverUrl}/api/v1/nodes/n: .*ECONNREFUSED`),
    );
    await lonely.close();
  });
});

describe('ping', () => {
  it('is content with /readyz', async () => {
    server.always((response) => void response.end('ok'));
    await client.ping();
    expect(sent()).toEqual(['GET /readyz']);
  });

  it('is content with /version where /readyz is not for us', async () => {
    server.next(status(403, 'Forbidden'), json(200, { major: '1' }));
    await client.ping();
    expect(sent()).toEqual(['GET /readyz', 'GET /version']);
  });

  it('passes on a refusal of both', async () => {
    server.always(status(401, 'Unauthorized'));
    await expect(client.ping()).rejects.toThrow('it was Unauthorized');
  });
});

describe('whether the server vouches for names of people', () => {
  it('is what its /version says, asked once', async () => {
    server.always(json(200, { compiler: 'rollkeeper' }));
    expect([await client.verifiesNames(), await client.verifiesNames()]).toEqual([true, true]);
    expect(sent()).toEqual(['GET /version']);
  });

  it.each([
    ['of another server', json(200, { compiler: 'gc' })],
    ['that is refused', status(403, 'Forbidden')],
  ])('is not so by an answer %s', async (_what, answer) => {
    server.always(answer);
    expect(await client.verifiesNames()).toBe(false);
  });
});
