import { describe, expect, it } from 'vitest';
import type { Secret } from '../../runtime/index.js';
import { decideTokenSecret } from './token-secrets.js';

const ACCOUNT = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'team', uid: 'uid-1' },
};
const CA = 'the authority';
const UID = 'kubernetes.io/service-account.uid';
const FILLED = {
  namespace: Buffer.from('team').toString('base64'),
  'ca.crt': Buffer.from(CA).toString('base64'),
  token: Buffer.from('a token').toString('base64'),
};

function aSecret(data?: Record<string, string>, annotations: Readonly<Record<string, string>> = {}): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'robot-token',
      namespace: 'team',
      annotations: { 'kubernetes.io/service-account.name': 'robot', ...annotations },
    },
    type: 'kubernetes.io/service-account-token',
    ...(data && { data }),
  };
}

describe('a Secret that asks for a token', () => {
  it('gets all that it lacks', () => {
    const { token: _, ...data } = FILLED;
    expect(decideTokenSecret(aSecret(), ACCOUNT, CA)).toEqual({
      type: 'fill',
      annotations: { [UID]: 'uid-1' },
      data,
      needsToken: true,
    });
  });

  it('is left alone once it has everything', () => {
    expect(decideTokenSecret(aSecret(FILLED, { [UID]: 'uid-1' }), ACCOUNT, CA)).toEqual({ type: 'none' });
  });

  it('keeps its token when the authority of the server is another one', () => {
    const step = decideTokenSecret(aSecret(FILLED, { [UID]: 'uid-1' }), ACCOUNT, 'another');
    expect(step).toMatchObject({
      data: { 'ca.crt': Buffer.from('another').toString('base64') },
      needsToken: false,
    });
  });

  it('has no authority where the server has none of its own', () => {
    const { 'ca.crt': _, ...data } = FILLED;
    expect(decideTokenSecret(aSecret(data, { [UID]: 'uid-1' }), ACCOUNT, undefined)).toEqual({
      type: 'none',
    });
  });

  it.each<{ what: string; account?: typeof ACCOUNT; annotations: Record<string, string> }>([
    { what: 'is gone', annotations: {} },
    { what: 'is another one of that name', account: ACCOUNT, annotations: { [UID]: 'uid-0' } },
  ])('goes when its account $what', ({ account, annotations }) => {
    expect(decideTokenSecret(aSecret(FILLED, annotations), account, CA)).toEqual({ type: 'delete' });
  });

  it('is left alone while it is being deleted', () => {
    const secret = aSecret();
    const metadata = { ...secret.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(decideTokenSecret({ ...secret, metadata }, undefined, CA)).toEqual({ type: 'none' });
  });
});
