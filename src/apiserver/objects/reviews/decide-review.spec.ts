import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { ADMIN, ANONYMOUS } from '../../access/auth/index.js';
import type { UserInfo } from '../../access/auth/index.js';
import { Authorizer } from '../../access/authorization/index.js';
import { createKindRegistry } from '../../kinds/index.js';
import { FollowedResources, MemoryStorage } from '../../storage/index.js';
import type { Review } from './decide-review.js';
import { decideReview, REVIEW_TYPES } from './decide-review.js';

const AUDIENCE = 'here';

function decide(kind: string, review: Review, isOpen = false, self: UserInfo = ADMIN): Promise<object> {
  const type = REVIEW_TYPES.find((each) => each.kind === kind);
  if (!type) throw new Error(`there is no ${kind}`);
  const clock = new FakeClock();
  const followed = new FollowedResources(new MemoryStorage({ clock }), { clock, logger: silentLogger });
  const authorizer = new Authorizer({ followed, kinds: createKindRegistry(), isOpen });
  const reviewer = {
    authenticate: (token: string) =>
      Promise.resolve(token === 'right' ? { user: ADMIN, audiences: [AUDIENCE] } : undefined),
    ready: authorizer.ready.bind(authorizer),
    decide: authorizer.decide.bind(authorizer),
    rulesHeldBy: authorizer.rulesHeldBy.bind(authorizer),
  };
  return decideReview(type, review, reviewer, { self });
}

describe('a review', () => {
  const eve = { spec: { user: 'eve', nonResourceAttributes: { path: '/', verb: 'get' } } };

  it('allows everybody everything where everybody is let in, and nobody anything without a role', async () => {
    expect(await decide('SubjectAccessReview', eve, true)).toMatchObject({ allowed: true });
    expect(await decide('SubjectAccessReview', eve)).toEqual({ allowed: false });
  });

  it('names the owner of a token', async () => {
    const status = { authenticated: true, user: ADMIN, audiences: [AUDIENCE] };
    expect(await decide('TokenReview', { spec: { token: 'right' } })).toEqual(status);
    expect(await decide('TokenReview', { spec: { token: 'wrong' } })).not.toHaveProperty('authenticated');
  });

  it('tells users who they are', async () => {
    expect(await decide('SelfSubjectReview', {}, true, ANONYMOUS)).toEqual({
      userInfo: { username: 'system:anonymous', groups: ['system:unauthenticated'] },
    });
  });

  it('takes nobody for a master by a name that is like it', async () => {
    for (const user of ['admin', 'Admin', 'system:serviceaccount:default:admin', 'system:masters'])
      expect(
        await decide('SubjectAccessReview', { spec: { ...eve.spec, user, groups: ['masters'] } }),
      ).toMatchObject({ allowed: false });
    const master = { spec: { ...eve.spec, groups: ['system:masters'] } };
    expect(await decide('SubjectAccessReview', master)).toEqual({ allowed: true });
  });

  const listing = (selectors: object) => ({
    spec: { user: 'eve', resourceAttributes: { verb: 'list', resource: 'pods', ...selectors } },
  });

  it.each([
    [{ labelSelector: {} }, 'requirements or rawSelector is required'],
    [
      { labelSelector: { requirements: [{ key: 'a', operator: 'In' }] } },
      'must be specified when `operator` is',
    ],
    [{ labelSelector: { requirements: [{ key: 'a b', operator: 'Exists' }] } }, 'name part must consist of'],
    [{ fieldSelector: { requirements: [{ operator: 'Exists' }] } }, 'key: Required value: must be specified'],
    [
      { fieldSelector: { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'Exists' }] } },
      'may not specified at the same time as requirements',
    ],
  ])('with a selector that is none is refused: %j', async (selectors, problem) => {
    await expect(decide('SubjectAccessReview', listing(selectors))).rejects.toThrow(problem);
  });

  it.each([
    [{ labelSelector: { requirements: [{ key: 'a', operator: 'Later' }] } }, 'labelSelector ignored'],
    [{ labelSelector: { rawSelector: 'a in (' } }, 'labelSelector ignored'],
    [
      {
        fieldSelector: {
          requirements: [
            { key: 'a', operator: 'Exists' },
            { key: 'b', operator: 'In', values: ['c'] },
          ],
        },
      },
      'fieldSelector partially ignored',
    ],
  ])('says which selector it could not read: %j', async (selectors, words) => {
    expect(await decide('SubjectAccessReview', listing(selectors))).toMatchObject({
      evaluationError: `spec.resourceAttributes.${words} due to parse error`,
    });
  });

  it('without anything in it is refused', async () => {
    await expect(decide('TokenReview', {})).rejects.toThrow('token is required');
    await expect(decide('SubjectAccessReview', {})).rejects.toThrow('exactly one of');
    await expect(decide('SelfSubjectAccessReview', {}, true)).rejects.toThrow('exactly one of');
    await expect(decide('SelfSubjectRulesReview', {})).rejects.toThrow('no namespace on request');
  });
});
