import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { TLSSocket } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { ClusterConnection, LoadKubeconfigOptions } from '../../src/client/api-client/index.js';
import { createHttpApiClient, loadKubeconfig } from '../../src/client/api-client/index.js';
import { FakeClock, SystemClock } from '../../src/machinery/clock/index.js';
import { Pod } from '../../src/machinery/kubernetes/index.js';
import type { TestCertificates } from '../../src/testing/api-client-certificates.js';
import { makeTestCertificates } from '../../src/testing/api-client-certificates.js';
import { ApiClientServer, json } from '../../src/testing/api-client-server.js';

const V1 = 'client.authentication.k8s.io/v1';
const V1BETA1 = 'client.authentication.k8s.io/v1beta1';

let folder: string;
let pki: TestCertificates;

beforeAll(async () => {
  pki = await makeTestCertificates();
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollkeeper-plugins-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function load(
  cluster: object,
  user: object,
  options: Partial<LoadKubeconfigOptions> = {},
): Promise<ClusterConnection> {
  const path = join(folder, 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(path, `# kept by hand\n${stringify(config)}`);
  const clock = options.clock ?? new SystemClock();
  return loadKubeconfig({ path, env: {}, isTerminal: false, ...options, clock });
}

/** A plugin that notes each run, and answers with what `script` makes `status`. */
function plugin(script: string, more: object = {}): object {
  const source = `
    const fs = require('node:fs');
    const notes = ${JSON.stringify(join(folder, 'runs'))};
    fs.appendFileSync(notes, process.env.KUBERNETES_EXEC_INFO + '\\n');
    const run = fs.readFileSync(notes, 'utf8').trim().split('\\n').length;
    const { apiVersion, spec } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
    let status;
    ${script}
    console.log(JSON.stringify({ apiVersion, kind: 'ExecCredential', status }));`;
  const how = { apiVersion: V1, interactiveMode: 'Never', command: process.execPath, args: ['-e', source] };
  return { exec: { ...how, ...more } };
}

interface Run {
  readonly apiVersion: string;
  readonly spec: { readonly interactive: boolean; readonly cluster?: object };
}

const runs = (): Run[] =>
  readFileSync(join(folder, 'runs'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Run);

describe('a credential plugin', () => {
  it.each([V1, V1BETA1])('is told that %s is spoken, and has its own environment', async (apiVersion) => {
    const env = [{ name: 'SUFFIX', value: '!' }];
    const user = plugin('status = { token: apiVersion + process.env.SUFFIX }', { apiVersion, env });
    const { credentials } = await load({}, user);
    expect(await credentials.headers()).toEqual({ authorization: `Bearer ${apiVersion}!` });
    expect(runs()).toEqual([{ kind: 'ExecCredential', apiVersion, spec: { interactive: false } }]);
  });

  it('is ended when it answers without end', async () => {
    const source = "setInterval(() => console.log('x'.repeat(100_000)), 1)";
    const endless = load({}, plugin('', { args: ['-e', source] }));
    await expect(endless).rejects.toThrow('answered more than 1048576 characters');
  });

  it('runs once for many requests, and again when its answer has expired', async () => {
    const clock = new FakeClock();
    const end = new Date(clock.now() + 60_000).toISOString();
    const script = `status = { token: 't' + run, expirationTimestamp: run === 1 ? '${end}' : undefined }`;
    const { credentials } = await load({}, plugin(script), { clock });
    const tokens = async (): Promise<unknown[]> =>
      Promise.all([1, 2, 3].map(async () => (await credentials.headers())['authorization']));
    expect(new Set(await tokens())).toEqual(new Set(['Bearer t1']));
    await clock.advance(60_000);
    expect(new Set(await tokens())).toEqual(new Set(['Bearer t2']));
    expect(runs()).toHaveLength(2);
  });

  it('runs again when the server refuses its answer, and the request goes on, a watch as well', async () => {
    const server = await ApiClientServer.start();
    let good = 'Bearer t1';
    server.always((response, request) => {
      const isGood = request.headers.authorization === good;
      return json(isGood ? 200 : 401, isGood ? { items: [] } : { kind: 'Status', code: 401 })(
        response,
        request,
      );
    });
    const clock = new FakeClock();
    const connection = await load({ server: server.url }, plugin("status = { token: 't' + run }"), { clock });
    const client = createHttpApiClient({ connection, userAgent: 'test', clock });
    await client.list(Pod);
    await clock.advance(3_000);
    good = 'Bearer t2';
    await Promise.all([client.list(Pod), client.list(Pod), client.list(Pod)]);
    expect(runs()).toHaveLength(2);

    await clock.advance(3_000);
    good = 'Bearer t3';
    const { signal } = new AbortController();
    const watch = client.watch(Pod, { resourceVersion: '1', timeoutSeconds: 5, idleTimeoutMs: 9e3, signal });
    // It is let in; what a list answers is no watch event.
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toThrow('ended within an event');
    expect(runs()).toHaveLength(3);

    good = 'nothing';
    await expect(client.list(Pod)).rejects.toMatchObject({ code: 401 });
    expect(runs(), 'brand-new credentials are refused for another reason').toHaveLength(3);
    await client.close();
    await server.stop();
  });

  it('may hand out client certificates, the next one before the last has expired', async () => {
    const { cert, key } = pki.server;
    const server = await ApiClientServer.start({ cert, key, ca: pki.ca, requestCert: true });
    const peers: string[] = [];
    server.always((response, request) => {
      peers.push(String((request.raw.socket as TLSSocket).getPeerCertificate().subject.CN));
      response.end('ok');
    });
    const clock = new FakeClock(Date.now());
    const issued = [await pki.issue('first', 60_000), await pki.issue('second')].map((pair) => ({
      clientCertificateData: pair.cert,
      clientKeyData: pair.key,
    }));
    writeFileSync(join(folder, 'issued'), JSON.stringify(issued));
    const file = JSON.stringify(join(folder, 'issued'));
    const script = `status = JSON.parse(fs.readFileSync(${file}, 'utf8'))[run - 1]`;
    const cluster = {
      server: server.url,
      'certificate-authority-data': Buffer.from(pki.ca).toString('base64'),
    };
    const connection = await load(cluster, plugin(script), { clock });
    const client = createHttpApiClient({ connection, userAgent: 'test', clock, maxAttempts: 1 });
    await client.ping();
    await client.ping();
    await clock.advance(61_000);
    await client.ping();
    expect(peers).toEqual(['first', 'first', 'second']);
    await client.close();
    await server.stop();
  });

  it('hears of the cluster, if it wants to', async () => {
    const cluster = {
      server: 'https://api.example.com',
      'tls-server-name': 'api',
      'certificate-authority-data': Buffer.from(pki.ca).toString('base64'),
      'proxy-url': 'http://proxy:3128',
      extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } }],
    };
    await load(cluster, plugin("status = { token: 't' }", { provideClusterInfo: true }));
    const { extensions: _, ...told } = cluster;
    expect(runs()[0]?.spec.cluster).toEqual({ ...told, config: { audience: 'a' } });
  });

  it('is asked for nothing by a person where there is none', async () => {
    const script = "status = { token: spec.interactive ? 'person' : 'nobody' }";
    const { credentials } = await load({}, plugin(script, { interactiveMode: 'IfAvailable' }));
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer nobody' });
    const user = plugin("status = { token: 't' }", { interactiveMode: 'Always' });
    await expect(load({}, user)).rejects.toThrow('users "u": exec: the plugin wants to ask a person');
  });

  it('has no input to wait for where there is no terminal', async () => {
    const script = "status = { token: fs.readFileSync(0, 'utf8') === '' ? 'nothing to read' : 'something' }";
    const { credentials } = await load({}, plugin(script));
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer nothing to read' });
  });

  it('is found beside the kubeconfig that names it by a path', async () => {
    const answer = { apiVersion: V1, kind: 'ExecCredential', status: { token: 'beside' } };
    writeFileSync(join(folder, 'plugin'), `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`, { mode: 0o755 });
    const exec = { apiVersion: V1, interactiveMode: 'Never', command: './plugin' };
    const { credentials } = await load({}, { exec });
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer beside' });
  });

  it('says so at the start if it fails or is missing, by name, with the hint how to install it', async () => {
    const failing = plugin('console.error("no login"); process.exit(1)');
    await expect(load({}, failing)).rejects.toThrow('users "u": exec: no login');
    const how = { apiVersion: V1, interactiveMode: 'Never', installHint: 'Install it from there.' };
    const missing = { exec: { ...how, command: 'no-such-plugin-at-all' } };
    await expect(load({}, missing)).rejects.toThrow(
      /no-such-plugin-at-all: no folder of PATH has this program[^]*Install it from there\./,
    );
  });
});

describe('the oidc auth-provider', () => {
  let idp: ApiClientServer;
  let clock: FakeClock;

  const jwt = (name: string, expiresInMs: number): string => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = {
      ...{ iss: idp.url, aud: 'client', sub: name, iat: Math.floor(Date.now() / 1000) },
      exp: Math.floor((clock.now() + expiresInMs) / 1000),
    };
    return `${part({ alg: 'RS256' })}.${part(claims)}.${Buffer.from(name).toString('base64url')}`;
  };

  const user = (config: object): object => ({
    'auth-provider': {
      name: 'oidc',
      config: {
        ...{ 'idp-issuer-url': idp.url, 'client-id': 'client', 'client-secret': 's3cret' },
        'idp-certificate-authority-data': Buffer.from(pki.ca).toString('base64'),
        ...config,
      },
    },
  });

  const kept = (): Record<string, string> => {
    const text = readFileSync(join(folder, 'kubeconfig'), 'utf8');
    expect(text).toContain('# kept by hand');
    const { users } = parse(text) as {
      users: { user: { 'auth-provider': { config: Record<string, string> } } }[];
    };
    return users[0]?.user['auth-provider'].config ?? {};
  };

  beforeEach(async () => {
    const { cert, key } = pki.server;
    idp = await ApiClientServer.start({ cert, key });
    clock = new FakeClock(Date.now());
    idp.always((response, request) => {
      if (request.method === 'GET') {
        const endpoints = { issuer: idp.url, token_endpoint: `${idp.url}/token` };
        return json(200, endpoints)(response, request);
      }
      const given = new URLSearchParams(request.body).get('refresh_token') ?? '';
      const next = `r${Number(given.slice(1)) + 1}`;
      const tokens = { access_token: 'a', token_type: 'Bearer', refresh_token: next };
      return json(200, { ...tokens, id_token: jwt(next, 3_600_000) })(response, request);
    });
  });

  afterEach(() => idp.stop());

  const tokenRequests = () => idp.received.filter(({ method }) => method === 'POST');

  it('sends the token of the kubeconfig while it is good', async () => {
    const token = jwt('given', 60_000);
    const { credentials } = await load({}, user({ 'id-token': token, 'refresh-token': 'r1' }), { clock });
    expect(await credentials.headers()).toEqual({ authorization: `Bearer ${token}` });
    expect(idp.received).toEqual([]);
  });

  it('refreshes one that has expired, once an hour, and keeps what the provider changed', async () => {
    const given = { 'id-token': jwt('given', 5_000), 'refresh-token': 'r1' };
    const { credentials } = await load({}, user(given), { clock });
    const first = await credentials.headers();
    expect(await Promise.all([credentials.headers(), credentials.headers()])).toEqual([first, first]);
    expect(tokenRequests()).toHaveLength(1);
    const [request] = tokenRequests();
    expect(request?.headers.authorization).toBe(`Basic ${Buffer.from('client:s3cret').toString('base64')}`);
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toMatchObject({
      grant_type: 'refresh_token',
      refresh_token: 'r1',
    });
    expect(kept()).toMatchObject({
      'refresh-token': 'r2',
      'id-token': String(first['authorization']).slice('Bearer '.length),
      'client-secret': 's3cret',
    });

    await clock.advance(3_500_000);
    expect(await credentials.headers()).toBe(first);
    await clock.advance(100_000);
    expect(await credentials.headers()).not.toEqual(first);
    expect(kept()).toMatchObject({ 'refresh-token': 'r3' });
  });

  it('says what is missing where a token has expired and cannot be refreshed', async () => {
    const { credentials } = await load({}, user({ 'id-token': jwt('given', -1_000) }), { clock });
    await expect(credentials.headers()).rejects.toThrow(
      'users "u": auth-provider oidc: the id-token has expired, and there is no refresh-token',
    );
  });

  it('trusts no provider that its CA does not vouch for', async () => {
    const other = await makeTestCertificates();
    const config = {
      'refresh-token': 'r1',
      'idp-certificate-authority-data': Buffer.from(other.ca).toString('base64'),
    };
    const { credentials } = await load({}, user(config), { clock });
    await expect(credentials.headers()).rejects.toThrow('users "u": auth-provider oidc');
    expect(idp.received).toEqual([]);
  });
});
