import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { TLSSocket } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { LoadKubeconfigOptions } from '../../src/client/api-client/index.js';
import {
  ApiConnectionError,
  contextKubeconfig,
  createHttpApiClient,
  loadKubeconfig,
} from '../../src/client/api-client/index.js';
import { FakeClock, SystemClock } from '../../src/machinery/clock/index.js';
import { InvalidOptionError, UnsupportedError } from '../../src/machinery/errors/index.js';
import type { TestCertificates } from '../../src/testing/api-client-certificates.js';
import { makeTestCertificates } from '../../src/testing/api-client-certificates.js';
import { ApiClientServer } from '../../src/testing/api-client-server.js';

let folder: string;
let pki: TestCertificates;

interface Config {
  cluster?: object;
  user?: object;
  context?: object;
}

/** Writes a kubeconfig with one context and gives its path. */
function kubeconfig({ cluster = {}, user = {}, context = {} }: Config = {}, name = 'kubeconfig'): string {
  const path = join(folder, name);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...context } }],
    'current-context': 'x',
  };
  writeFileSync(path, stringify(config));
  return path;
}

const load = (path: string, options: Partial<LoadKubeconfigOptions> = {}) =>
  loadKubeconfig({ path, clock: new SystemClock(), env: {}, ...options });

const base64 = (text: string) => Buffer.from(text).toString('base64');

function write(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

beforeAll(async () => {
  pki = await makeTestCertificates();
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollkeeper-kubeconfig-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('a kubeconfig against a real TLS server', () => {
  let server: ApiClientServer;
  let peers: (string | undefined)[];

  beforeEach(async () => {
    const { cert, key } = pki.server;
    server = await ApiClientServer.start({
      cert,
      key,
      ca: pki.ca,
      requestCert: true,
      rejectUnauthorized: false,
    });
    peers = [];
    server.always((response, request) => {
      const socket = request.raw.socket as TLSSocket;
      peers.push(socket.authorized ? String(socket.getPeerCertificate().subject.CN) : undefined);
      response.end('ok');
    });
  });

  afterEach(() => server.stop());

  async function ping(config: Config): Promise<void> {
    const { cluster, ...rest } = config;
    const connection = await load(kubeconfig({ cluster: { server: server.url, ...cluster }, ...rest }));
    const client = createHttpApiClient({
      connection,
      userAgent: 'rollkeeper/test',
      clock: new SystemClock(),
      maxAttempts: 1,
    });
    try {
      await client.ping();
    } finally {
      await client.close();
    }
  }

  const trusted = () => ({ 'certificate-authority-data': base64(pki.ca) });

  it('lets a client certificate from inline data say who we are', async () => {
    await ping({
      cluster: trusted(),
      user: {
        'client-certificate-data': base64(pki.client.cert),
        'client-key-data': base64(pki.client.key),
      },
    });
    expect(peers).toEqual(['rollkeeper']);
  });

  it('reads certificates from files relative to the kubeconfig', async () => {
    write('ca.crt', pki.ca);
    write('client.crt', pki.client.cert);
    write('client.key', pki.client.key);
    await ping({
      cluster: { 'certificate-authority': 'ca.crt' },
      user: { 'client-certificate': 'client.crt', 'client-key': './client.key' },
    });
    expect(peers).toEqual(['rollkeeper']);
  });

  it('sends a token over a verified connection', async () => {
    await ping({ cluster: trusted(), user: { token: 'secret' } });
    expect(server.received[0]?.headers.authorization).toBe('Bearer secret');
    expect(peers).toEqual([undefined]);
  });

  it('refuses a server that the CA does not vouch for, before it sends anything', async () => {
    await expect(ping({ user: { token: 'secret' } })).rejects.toThrow(ApiConnectionError);
    expect(server.received).toEqual([]);
  });

  it('takes any certificate with insecure-skip-tls-verify', async () => {
    await ping({ cluster: { 'insecure-skip-tls-verify': true } });
    expect(server.received).toHaveLength(1);
  });

  it('follows certificates that are rotated in their files, without a connection that breaks', async () => {
    const other = await makeTestCertificates('another CA');
    const clock = new FakeClock();
    write('ca.crt', pki.ca);
    write('client.crt', pki.client.cert);
    write('client.key', pki.client.key);
    const path = kubeconfig({
      cluster: { server: server.url, 'certificate-authority': 'ca.crt' },
      user: { 'client-certificate': 'client.crt', 'client-key': 'client.key' },
    });
    const client = createHttpApiClient({
      connection: await load(path, { clock }),
      userAgent: 'rollkeeper/test',
      clock,
      maxAttempts: 1,
    });
    await client.ping();
    const renewed = await pki.issue('renewed');
    write('client.crt', renewed.cert);
    await clock.advance(10_000);
    await client.ping();
    expect(peers, 'a certificate without its key is no use yet').toEqual(['rollkeeper', 'rollkeeper']);
    write('client.key', renewed.key);
    await clock.advance(10_000);
    await client.ping();
    expect(peers.at(-1)).toBe('renewed');

    // The server's CA is replaced: first ours, then the server's own certificate.
    write('ca.crt', `${other.ca}\n${pki.ca}`);
    await clock.advance(10_000);
    await client.ping();
    write('ca.crt', other.ca);
    await clock.advance(10_000);
    await expect(client.ping(), 'no longer trusted').rejects.toThrow(ApiConnectionError);
    rmSync(join(folder, 'ca.crt'));
    await clock.advance(10_000);
    await expect(client.ping(), 'a file that is gone changes nothing').rejects.toThrow(ApiConnectionError);
    write('ca.crt', pki.ca);
    await clock.advance(10_000);
    await client.ping();
    await client.close();
  });

  it('checks the certificate for tls-server-name rather than for the host', async () => {
    await expect(ping({ cluster: { ...trusted(), 'tls-server-name': 'elsewhere' } })).rejects.toThrow(
      'elsewhere',
    );
  });
});

describe('the credentials of a kubeconfig', () => {
  const headersOf = async (user: object) => (await load(kubeconfig({ user }))).credentials.headers();

  it.each([
    ['a token', { token: 't' }, { authorization: 'Bearer t' }],
    ['a password', { username: 'me', password: 'pw' }, { authorization: `Basic ${base64('me:pw')}` }],
    ['nothing', {}, {}],
    [
      'impersonation',
      { token: 't', as: 'other' },
      { authorization: 'Bearer t', 'impersonate-user': 'other' },
    ],
  ])('%s', async (_name, user, headers) => {
    expect(await headersOf(user)).toEqual(headers);
  });

  it('a token file, which is read again after a minute and survives a moment without the file', async () => {
    const clock = new FakeClock();
    const path = write('token', 'one\n');
    const { credentials } = await load(kubeconfig({ user: { tokenFile: 'token' } }), { clock });
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer one' });
    write('token', 'two\n');
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer one' });
    await clock.advance(60_000);
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer two' });
    rmSync(path);
    await clock.advance(60_000);
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer two' });
  });

  it('everything about somebody else', async () => {
    const user = {
      token: 't',
      as: 'other',
      'as-uid': '7',
      'as-groups': ['g1', 'g2'],
      'as-user-extra': { 'Acme.com/Team': ['a', 'b'], 'a(b)': ['c'] },
    };
    expect(await headersOf(user)).toEqual({
      authorization: 'Bearer t',
      'impersonate-user': 'other',
      'impersonate-uid': '7',
      'impersonate-group': ['g1', 'g2'],
      'impersonate-extra-acme.com%2Fteam': ['a', 'b'],
      'impersonate-extra-a%28b%29': ['c'],
    });
  });
});

describe('the choice of a kubeconfig', () => {
  it('is the one named, in the context named', async () => {
    const path = kubeconfig({ cluster: { server: 'https://h:1/base/' }, context: { namespace: 'ns' } });
    const connection = await load(path, { context: 'x' });
    expect(connection).toMatchObject({ serverUrl: 'https://h:1/base', namespace: 'ns' });
    expect(connection.source).toBe(`kubeconfig ${path} (context x)`);
    await expect(load(path, { context: 'y' })).rejects.toThrow('there is no context "y"');
  });

  it('are those of KUBECONFIG, where the first that says something counts', async () => {
    const first = kubeconfig({ cluster: { server: 'https://first' } }, 'first');
    const second = kubeconfig({ cluster: { server: 'https://second' } }, 'second');
    const env = { KUBECONFIG: `${join(folder, 'missing')}:${first}:${second}` };
    expect(await load('', { path: undefined, env })).toMatchObject({ serverUrl: 'https://first' });
  });

  it('is the one at home', async () => {
    mkdirSync(join(folder, '.kube'));
    kubeconfig({ cluster: { server: 'https://home' } }, '.kube/config');
    const env = { HOME: folder };
    expect(await load('', { path: undefined, env })).toMatchObject({ serverUrl: 'https://home' });
  });

  it('is missed clearly', async () => {
    await expect(load('', { path: undefined, env: { HOME: folder } })).rejects.toThrow(
      /kubeconfig: none was given/,
    );
    await expect(load(join(folder, 'nope'))).rejects.toThrow(/nope: ENOENT/);
  });
});

describe('a context as a kubeconfig by itself', () => {
  it('has its own cluster and user alone, with absolute paths', async () => {
    const first = kubeconfig({
      cluster: { 'certificate-authority': 'ca.pem' },
      user: { tokenFile: 'token' },
    });
    const other = write('other', stringify({ users: [{ name: 'another', user: { token: 'secret' } }] }));
    const text = await contextKubeconfig({ env: { KUBECONFIG: `${first}:${other}` } });
    expect(parse(text)).toEqual({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'c',
          cluster: {
            server: 'https://127.0.0.1:6443',
            'certificate-authority': join(folder, 'ca.pem'),
          },
        },
      ],
      users: [{ name: 'u', user: { tokenFile: join(folder, 'token') } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    });
    await expect(contextKubeconfig({ path: first, context: 'y' })).rejects.toThrow('there is no context "y"');
  });

  it('is missed clearly where there are no files', async () => {
    await expect(contextKubeconfig({ env: { HOME: folder } })).rejects.toThrow(
      'kubeconfig: KUBECONFIG is not set, and there is no ~/.kube/config',
    );
  });
});

describe('faults in a kubeconfig are named by file and field', () => {
  it.each<[string, Config, string]>([
    ['a server without a scheme', { cluster: { server: 'host:6443' } }, 'clusters.0.cluster.server'],
    ['a token that is no text', { user: { token: 5 } }, 'users.0.user.token'],
    ['an unknown cluster', { context: { cluster: 'z' } }, 'there is no cluster "z"'],
    ['an unknown user', { context: { user: 'z' } }, 'there is no user "z"'],
    [
      'a missing CA file',
      { cluster: { 'certificate-authority': 'no.crt' } },
      'clusters "c": certificate-authority',
    ],
    ['a missing token file', { user: { tokenFile: 'no' } }, 'users "u": tokenFile'],
    ['a certificate without its key', { user: { 'client-certificate-data': 'eA==' } }, 'without client-key'],
    ['a proxy that is none', { cluster: { 'proxy-url': 'ftp://p' } }, 'clusters "c": proxy-url'],
    ['groups of nobody', { user: { 'as-groups': ['g'] } }, 'users "u": as-groups: has no effect without as'],
    ['a token beside a password', { user: { token: 't', username: 'me' } }, 'both a token and a password'],
    [
      'a CA that nobody looks at',
      { cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': 'eA==' } },
      'leaves certificate-authority without use',
    ],
    [
      'a plugin of an old protocol',
      { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1alpha1', command: 'x' } } },
      'users.0.user.exec.apiVersion',
    ],
    [
      'a plugin that does not say whether it asks people',
      { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x' } } },
      'users.0.user.exec.interactiveMode',
    ],
    [
      'a provider without its issuer',
      { user: { 'auth-provider': { name: 'oidc', config: { 'client-id': 'c' } } } },
      'auth-provider oidc: config.idp-issuer-url',
    ],
  ])('%s', async (_name, config, message) => {
    const path = kubeconfig(config);
    const error = await load(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect((error as Error).message).toContain(`kubeconfig ${path}`);
    expect((error as Error).message).toContain(message);
  });

  it('broken YAML', async () => {
    await expect(load(write('kubeconfig', '{oops'))).rejects.toThrow(InvalidOptionError);
  });

  it.each<[string, Config, string]>([
    [
      'a retired auth-provider',
      { user: { 'auth-provider': { name: 'gcp' } } },
      'auth-provider gcp is not supported',
    ],
  ])('%s, which we do not have', async (_name, config, message) => {
    const error = await load(kubeconfig(config)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnsupportedError);
    expect((error as Error).message).toContain(message);
  });
});
