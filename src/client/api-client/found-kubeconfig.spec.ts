import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { InvalidOptionError } from '../../machinery/errors/index.js';
import { loadKubeconfig } from './load-kubeconfig.js';

describe('a kubeconfig that was found and not chosen', () => {
  let folder: string;
  let outside: string;

  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), 'found-kubeconfig-'));
    folder = join(outside, 'data');
    mkdirSync(folder);
    writeFileSync(join(outside, 'token'), 'secret');
    writeFileSync(join(folder, 'token'), 'own');
    symlinkSync(join(outside, 'token'), join(folder, 'link'));
  });
  afterEach(() => rmSync(outside, { recursive: true }));

  const load = ({
    cluster = {},
    isFound = true,
    user = {},
  }: {
    cluster?: object;
    isFound?: boolean;
    user?: object;
  }) => {
    const path = join(folder, 'kubeconfig');
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    writeFileSync(path, JSON.stringify(config));
    return loadKubeconfig({ path, isFound, clock: new FakeClock(), env: {} });
  };
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    interactiveMode: 'Never',
    command: 'sh',
    args: ['-c', 'exit 1'],
  };

  it.each([
    ['a program', { user: { exec } }, 'exec'],
    ['an old provider', { user: { 'auth-provider': { name: 'oidc', config: {} } } }, 'auth-provider'],
    ['a server elsewhere', { cluster: { server: 'https://10.0.0.1' } }, 'server'],
    ['a name that leads elsewhere', { cluster: { server: 'https://127.0.0.1.example.com' } }, 'server'],
    ['a proxy', { cluster: { 'proxy-url': 'http://10.0.0.1:3128' } }, 'proxy-url'],
    ['a token outside of its folder', { user: { tokenFile: '../token' } }, 'tokenFile'],
    ['a link to a token outside of its folder', { user: { tokenFile: 'link' } }, 'tokenFile'],
    ['an absolute path', { cluster: { 'certificate-authority': '/etc/hosts' } }, 'certificate-authority'],
  ])('may not name %s', async (_, parts, field) => {
    const refused = await load(parts).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InvalidOptionError);
    expect((refused as Error).message).toContain(field);
    expect((refused as Error).message).toContain('--kubeconfig');
  });

  it('may name what `up` writes: this machine, and files beside it', async () => {
    await expect(load({ user: { tokenFile: 'token' } })).resolves.toMatchObject({
      serverUrl: 'https://127.0.0.1:6443',
    });
    await expect(
      load({ cluster: { server: 'https://[::1]:6443' }, user: { token: 't' } }),
    ).resolves.toBeDefined();
  });

  it('is not restricted where the user named it', async () => {
    await expect(load({ isFound: false, user: { tokenFile: '../token' } })).resolves.toBeDefined();
  });
});
