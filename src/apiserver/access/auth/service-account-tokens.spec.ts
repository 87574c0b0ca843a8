import { decodeJwt } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { KubernetesObject } from '../../../machinery/kubernetes/index.js';
import { MemoryStorage } from '../../storage/index.js';
import { ISSUER, ServiceAccountTokens } from './service-account-tokens.js';
import type { TokenToIssue } from './service-account-tokens.js';
import { createSigningKey } from './signing-key.js';

let clock: FakeClock;
let storage: MemoryStorage;
let tokens: ServiceAccountTokens;

async function put(resource: string, name: string, uid: string): Promise<KubernetesObject> {
  const metadata = { name, uid, ...(resource !== 'nodes' && { namespace: 'shop' }) };
  const object = { apiVersion: 'v1', kind: resource, metadata };
  const key = { resource, namespace: metadata.namespace ?? '', name };
  return (await storage.create(key, object)).object;
}

async function remove(resource: string, name: string): Promise<void> {
  const key = { resource, namespace: 'shop', name };
  await storage.delete(key, (await storage.get(key))!.revision);
}

async function issue(wish: Partial<TokenToIssue> = {}): Promise<string> {
  const account = wish.account ?? (await put('serviceaccounts', 'app', 'u1'));
  const issued = await tokens.issue({ audiences: [ISSUER], expirationSeconds: 600, ...wish, account });
  return issued.token;
}

beforeEach(() => {
  clock = new FakeClock();
  storage = new MemoryStorage({ clock });
  tokens = new ServiceAccountTokens(createSigningKey(), storage, clock);
});

describe('a token of a service account', () => {
  it('names its owner', async () => {
    const token = await issue();
    expect(await tokens.authenticate(token, [ISSUER])).toEqual({
      audiences: [ISSUER],
      user: {
        username: 'system:serviceaccount:shop:app',
        uid: 'u1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${decodeJwt(token).jti}`] },
      },
    });
  });

  it('is good until it expires', async () => {
    const token = await issue();
    await clock.advance(599_000);
    expect(await tokens.authenticate(token, [ISSUER])).toBeDefined();
    await clock.advance(1000);
    expect(await tokens.authenticate(token, [ISSUER])).toBeUndefined();
  });

  it('is good for its audiences alone', async () => {
    const token = await issue({ audiences: ['vault', 'other'] });
    expect(await tokens.authenticate(token, [ISSUER])).toBeUndefined();
    expect((await tokens.authenticate(token, [ISSUER, 'vault']))?.audiences).toEqual(['vault']);
  });

  it('has no user if another key signed it, if it was changed, or if it is not a token at all', async () => {
    const token = await issue();
    const others = new ServiceAccountTokens(createSigningKey(), storage, clock);
    expect(await others.authenticate(token, [ISSUER])).toBeUndefined();
    const [header, payload = '', signature] = token.split('.');
    const claims = { ...decodeJwt(token), sub: 'system:serviceaccount:kube-system:admin' };
    const forged = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const bad of [`${header}.${forged}.${signature}`, `${unsigned}.${payload}.`, 'x.y.z', ''])
      expect(await tokens.authenticate(bad, [ISSUER])).toBeUndefined();
  });

  it('ends with its account, and does not belong to the next one of that name', async () => {
    const token = await issue();
    await remove('serviceaccounts', 'app');
    expect(await tokens.authenticate(token, [ISSUER])).toBeUndefined();
    await put('serviceaccounts', 'app', 'u2');
    expect(await tokens.authenticate(token, [ISSUER])).toBeUndefined();
  });

  it('ends with the pod that it is bound to, and names it and its node', async () => {
    const pod = await put('pods', 'web', 'p1');
    const node = await put('nodes', 'n', 'n1');
    const token = await issue({ bound: { kind: 'pod', object: pod, node } });
    const extra = (await tokens.authenticate(token, [ISSUER]))?.user.extra;
    expect(extra).toMatchObject({
      'authentication.kubernetes.io/pod-name': ['web'],
      'authentication.kubernetes.io/pod-uid': ['p1'],
      'authentication.kubernetes.io/node-name': ['n'],
    });
    await remove('pods', 'web');
    expect(await tokens.authenticate(token, [ISSUER])).toBeUndefined();
  });

  it('ends a minute after the deletion of its account was to be over', async () => {
    const token = await issue();
    const key = { resource: 'serviceaccounts', namespace: 'shop', name: 'app' };
    const { object, revision } = (await storage.get(key))!;
    object.metadata.deletionTimestamp = new Date(clock.now()).toISOString();
    await storage.update(key, object, revision);
    await clock.advance(59_000);
    expect(await tokens.authenticate(token, [ISSUER])).toBeDefined();
    await clock.advance(1000);
    expect(await tokens.authenticate(token, [ISSUER])).toBeUndefined();
  });
});
