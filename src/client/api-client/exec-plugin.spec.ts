import { describe, expect, it } from 'vitest';
import { parseExecCredential } from './exec-plugin.js';

const V1 = 'client.authentication.k8s.io/v1';
const answer = (status: unknown, more: object = {}): string =>
  JSON.stringify({ apiVersion: V1, kind: 'ExecCredential', status, ...more });

describe('the answer of a credential plugin', () => {
  it('may be a token, with an end', () => {
    const status = { token: 't', expirationTimestamp: '2026-01-01T02:00:00+02:00' };
    expect(parseExecCredential(answer(status), V1)).toEqual({
      token: 't',
      expiresAtMs: Date.UTC(2026, 0, 1),
    });
  });

  it('may be a certificate, and have nulls', () => {
    const status = { token: null, clientCertificateData: 'C', clientKeyData: 'K', expirationTimestamp: null };
    expect(parseExecCredential(answer(status), V1)).toEqual({ certificate: { cert: 'C', key: 'K' } });
  });

  it.each([
    ['no JSON', 'secret-oops', 'not JSON'],
    ['another kind', answer({ token: 't' }, { kind: 'Pod' }), 'kind'],
    ['no status', answer(undefined), 'status'],
    ['nothing to show', answer({}), 'neither a token nor a client certificate'],
    ['half a pair', answer({ token: 'secret-t', clientCertificateData: 'C' }), 'belong together'],
    [
      'an end that is none',
      answer({ token: 'secret-t', expirationTimestamp: 'soon' }),
      'expirationTimestamp',
    ],
    [
      'another version',
      answer({ token: 'secret-t' }, { apiVersion: 'client.authentication.k8s.io/v1beta1' }),
      'v1beta1, and client.authentication.k8s.io/v1 was asked for',
    ],
  ])('is refused with %s, without being shown', (_name, output, message) => {
    expect(() => parseExecCredential(output, V1)).toThrow(message);
    expect(() => parseExecCredential(output, V1)).not.toThrow('secret');
  });
});
