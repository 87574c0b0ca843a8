import { describe, expect, it } from 'vitest';
import type { ClaimRules } from './user-of-claims.js';
import { ClaimError, userOfClaims } from './user-of-claims.js';

const ISSUER = 'https://login.example.com';
const rules = (more: Partial<ClaimRules> = {}): ClaimRules => ({
  ...{ issuerUrl: ISSUER, usernameClaim: 'sub' },
  ...more,
});
const ofEmail = rules({ usernameClaim: 'email' });

describe('the user of an ID token', () => {
  it.each<[what: string, rules: ClaimRules, username: string]>([
    ['has the issuer before the name', rules(), `${ISSUER}#anna`],
    ['has none before an email address', ofEmail, 'anna@example.com'],
    ['has the prefix that is named', rules({ usernamePrefix: 'oidc:' }), 'oidc:anna'],
    ['has no prefix where that is -', rules({ usernamePrefix: '-' }), 'anna'],
  ])('%s', (_what, by, username) => {
    const claims = { sub: 'anna', email: 'anna@example.com', email_verified: true };
    expect(userOfClaims(claims, by)).toEqual({ username, groups: [] });
  });

  it('is in the groups of the claim, which may be one or a list, each with the prefix', () => {
    const by = rules({ groupsClaim: 'groups', groupsPrefix: 'oidc:' });
    expect(userOfClaims({ sub: 'a', groups: ['shop', 'sre'] }, by).groups).toEqual(['oidc:shop', 'oidc:sre']);
    expect(userOfClaims({ sub: 'a', groups: 'shop' }, by).groups).toEqual(['oidc:shop']);
    expect(userOfClaims({ sub: 'a' }, by).groups).toEqual([]);
    expect(userOfClaims({ sub: 'a', groups: ['shop'] }, rules()).groups).toEqual([]);
  });

  it('has an email address that nobody says is not verified', () => {
    expect(userOfClaims({ email: 'a@example.com' }, ofEmail).username).toBe('a@example.com');
    for (const email_verified of [false, 'true', null, 0])
      expect(() => userOfClaims({ email: 'a@example.com', email_verified }, ofEmail)).toThrow(/not verified/);
  });

  it.each<[what: string, claims: Record<string, unknown>]>([
    ['is missing', {}],
    ['is empty', { sub: '' }],
    ['is no text', { sub: 7 }],
    ['is a list', { sub: ['anna'] }],
    ['breaks a header', { sub: 'anna\r\nImpersonate-Group: system:masters' }],
    ['is not ASCII', { sub: 'änna' }],
    ['ends with a space', { sub: 'anna ' }],
    ['is too long', { sub: 'a'.repeat(600) }],
  ])('is nobody where the name %s', (_what, claims) => {
    expect(() => userOfClaims(claims, rules({ usernamePrefix: '-' }))).toThrow(ClaimError);
  });

  it('takes no claim from what every JavaScript object has', () => {
    expect(() => userOfClaims({}, rules({ usernameClaim: 'constructor' }))).toThrow(ClaimError);
    expect(userOfClaims({ sub: 'a' }, rules({ groupsClaim: 'toString' })).groups).toEqual([]);
  });

  it('never has a name that the cluster keeps for itself', () => {
    const plain = rules({ usernamePrefix: '-', groupsClaim: 'groups' });
    for (const sub of ['system:admin', 'system:serviceaccount:kube-system:root', 'system:'])
      expect(() => userOfClaims({ sub }, plain)).toThrow(/keeps for itself/);
    for (const groups of [['system:masters'], ['shop', 'system:authenticated'], 'system:masters'])
      expect(() => userOfClaims({ sub: 'anna', groups }, plain)).toThrow(/keeps for itself/);
    // Two halves that make one together.
    expect(() => userOfClaims({ sub: 'em:admin' }, rules({ usernamePrefix: 'syst' }))).toThrow(ClaimError);
  });

  it('is in no group that is no text, and in two hundred at most', () => {
    const by = rules({ groupsClaim: 'groups' });
    for (const groups of [7, { shop: true }, ['shop', 7], [['shop']], null])
      expect(() => userOfClaims({ sub: 'a', groups }, by)).toThrow(ClaimError);
    const many = Array.from({ length: 201 }, (_, index) => `team-${index}`);
    expect(() => userOfClaims({ sub: 'a', groups: many }, by)).toThrow(/201 groups/);
  });
});
