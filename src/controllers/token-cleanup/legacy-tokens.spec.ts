import { describe, expect, it } from 'vitest';
import type { Secret } from '../../runtime/index.js';
import type { TokenFacts } from './legacy-tokens.js';
import { decideToken } from './legacy-tokens.js';

const NOW = Date.UTC(2026, 5, 15);
const OLD = '2020-01-01';
const FACTS: TokenFacts = {
  nowMs: NOW,
  trackedSinceMs: Date.UTC(2022, 0, 1),
  isListed: true,
  isMounted: false,
};
const aToken = (labels: Record<string, string> = {}, more: Partial<Secret['metadata']> = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/service-account-token',
  metadata: { name: 'default-token-x', creationTimestamp: `${OLD}T00:00:00Z`, labels, ...more },
});
const used = (date: string) => ({ 'kubernetes.io/legacy-token-last-used': date });
const invalid = (date: string) => ({ 'kubernetes.io/legacy-token-invalid-since': date });

describe('a token that was made for an account', () => {
  it('becomes invalid after a year without use, and goes after another', () => {
    expect(decideToken(aToken(), FACTS)).toBe('invalidate');
    expect(decideToken(aToken(used('2025-06-14')), FACTS)).toBe('invalidate');
    expect(decideToken(aToken(invalid('2025-06-16')), FACTS)).toBe('nothing');
    expect(decideToken(aToken(invalid('2025-06-14')), FACTS)).toBe('delete');
    expect(decideToken(aToken(invalid('yesterday')), FACTS)).toBe('invalidate');
  });

  it.each<[string, Secret, Partial<TokenFacts>]>([
    ['was used since', aToken(used('2025-06-15')), {}],
    ['was used at a time that cannot be read', aToken(used('lately')), {}],
    ['is young', aToken({}, { creationTimestamp: '2026-01-01T00:00:00Z' }), {}],
    ['is mounted', aToken(), { isMounted: true }],
    ['somebody asked for', aToken(), { isListed: false }],
    ['is being deleted', aToken({}, { deletionTimestamp: `${OLD}T00:00:00Z` }), {}],
    ['is no token', { ...aToken(), type: 'Opaque' }, {}],
    ['nothing is noted of', aToken(), { trackedSinceMs: undefined }],
    ['is not watched for long enough', aToken(), { trackedSinceMs: Date.UTC(2025, 5, 15) }],
  ])('stays where it %s', (_why, token, more) => {
    expect(decideToken(token, { ...FACTS, ...more })).toBe('nothing');
  });
});
