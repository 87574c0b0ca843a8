import { describe, expect, it } from 'vitest';
import type { Identities, Review } from './decide-review.js';
import { ADMIN, ANONYMOUS, decideReview } from './decide-review.js';
import { REVIEW_TYPES } from './review-types.js';

const CLOSED: Identities = { knows: (token) => token === 'right', self: ADMIN, isOpen: false };
const OPEN: Identities = { knows: () => false, self: ANONYMOUS, isOpen: true };

function decide(kind: string, review: Review, identities: Identities): object {
  const type = REVIEW_TYPES.find((each) => each.kind === kind);
  if (!type) throw new Error(`there is no ${kind}`);
  return decideReview(type, review, identities);
}

describe('a review', () => {
  const eve = { spec: { user: 'eve', nonResourceAttributes: { path: '/', verb: 'get' } } };

  it('allows everybody everything where everybody is let in, and still knows nobody by a token', () => {
    expect(decide('SubjectAccessReview', eve, OPEN)).toMatchObject({ allowed: true });
    expect(decide('SubjectAccessReview', eve, CLOSED)).toMatchObject({ allowed: false });
    expect(decide('TokenReview', { spec: { token: 'right' } }, OPEN)).not.toHaveProperty('authenticated');
    expect(decide('TokenReview', { spec: { token: 'right' } }, CLOSED)).toMatchObject({
      authenticated: true,
    });
  });

  it('tells who asks without a token that they are nobody in particular', () => {
    expect(decide('SelfSubjectReview', {}, OPEN)).toEqual({
      userInfo: { username: 'system:anonymous', groups: ['system:unauthenticated'] },
    });
  });

  it('takes nobody for the admin by a name that is like it', () => {
    for (const user of ['Admin', 'admin ', 'system:serviceaccount:default:admin', 'system:masters'])
      expect(
        decide('SubjectAccessReview', { spec: { ...eve.spec, user, groups: ['masters'] } }, CLOSED),
      ).toMatchObject({ allowed: false });
  });

  it('without anything in it is refused', () => {
    expect(() => decide('TokenReview', {}, CLOSED)).toThrow('token is required');
    expect(() => decide('SubjectAccessReview', {}, CLOSED)).toThrow('exactly one of');
    expect(() => decide('SelfSubjectAccessReview', {}, OPEN)).toThrow('exactly one of');
    expect(() => decide('SelfSubjectRulesReview', {}, CLOSED)).toThrow('no namespace on request');
  });
});
