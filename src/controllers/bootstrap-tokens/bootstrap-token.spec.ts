import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Secret } from '@rollkeeper/runtime';
import { decideSignatures, expiryOf } from './bootstrap-token.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const KUBECONFIG = 'apiVersion: v1\nkind: Config\n';

function aToken(data: Record<string, string> = {}, name = 'bootstrap-token-abcdef'): Secret {
  const all = {
    ...{ 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true' },
    ...data,
  };
  const encoded = Object.entries(all).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'bootstrap.kubernetes.io/token' },
    metadata: { name, namespace: 'kube-system' },
    data: Object.fromEntries(encoded) as Record<string, string>,
  };
}

describe('a bootstrap token', () => {
  it.each([
    { expiration: '', ms: Infinity },
    { expiration: '2026-01-01T13:00:00Z', ms: NOW + 3_600_000 },
    { expiration: 'node-1', ms: -Infinity },
  ])('expires at $ms with "$expiration"', ({ expiration, ms }) => {
    expect(expiryOf(aToken({ expiration }))).toBe(ms);
  });

  it('signs the kubeconfig, as a JWS without its payload', () => {
    const signed = decideSignatures({ kubeconfig: KUBECONFIG }, [aToken()], NOW);
    const [header = '', payload, signature] = (signed?.['jws-kubeconfig-abcdef'] ?? '').split('.');
    expect(Buffer.from(header, 'base64url').toString()).toBe('{"alg":"HS256","kid":"abcdef"}');
    expect(payload).toBe('');
    const content = Buffer.from(KUBECONFIG).toString('base64url');
    const expected = createHmac('sha256', '0123456789abcdef').update(`${header}.${content}`);
    expect(signature).toBe(expected.digest('base64url'));
    expect(decideSignatures(signed ?? {}, [aToken()], NOW), 'signed already').toBeUndefined();
  });

  it.each([
    { why: 'has expired', token: aToken({ expiration: '2026-01-01T11:00:00Z' }) },
    { why: 'is not for signing', token: aToken({ 'usage-bootstrap-signing': 'false' }) },
    { why: 'has another name', token: aToken({}, 'bootstrap-token-other') },
    {
      why: 'is somewhere else',
      token: { ...aToken(), metadata: { name: 'bootstrap-token-abcdef', namespace: 'default' } },
    },
    { why: 'is another Secret', token: { ...aToken(), type: 'Opaque' } },
  ])('signs nothing if it $why, and its signature goes', ({ token }) => {
    const data = { kubeconfig: KUBECONFIG, 'jws-kubeconfig-abcdef': 'x' };
    expect(decideSignatures(data, [token], NOW)).toEqual({ kubeconfig: KUBECONFIG });
  });

  it('signs nothing where there is no kubeconfig', () => {
    expect(decideSignatures({}, [aToken()], NOW)).toBeUndefined();
  });
});
