import { describe, expect, it } from 'vitest';
import { FaultPlan } from './fault-plan.js';
import type { FaultRates } from './faults.options.js';
import { compileFaultRates } from './faults.options.js';
import type { SeenRequest } from './request-match.js';

const aPlan = ({
  seed = 1,
  resources,
  ...rates
}: FaultRates & { seed?: number; resources?: string[] } = {}) =>
  new FaultPlan({ seed, resources, retryAfterSeconds: 1, rates: compileFaultRates(rates) });

const aRequest = (request: Partial<SeenRequest> = {}): SeenRequest => ({
  ...{
    verb: 'update',
    group: 'apps',
    resource: 'deployments',
    subresource: '',
    namespace: 'shop',
    name: 'web',
  },
  ...request,
});

/** The numbers of those of a hundred equal requests that are hit. */
const hitsOf = (plan: FaultPlan, request = aRequest()): number[] =>
  Array.from({ length: 100 }, (_, index) => index).filter(() => plan.decide(request));

describe('faults that are asked for', () => {
  it('hit the next request that matches, as often as was said, and no other', () => {
    const plan = aPlan();
    plan.failNext({ verb: ['update', 'patch'], resource: 'deployments.apps', code: 409, times: 2 });
    expect(plan.decide(aRequest({ verb: 'get' }))).toBeUndefined();
    expect(plan.decide(aRequest({ group: 'rollkeeper.dev' }))).toBeUndefined();
    const fault = { kind: 'status', code: 409, reason: 'Conflict', when: 'before' };
    expect(plan.decide(aRequest())?.fault).toEqual(fault);
    expect(plan.decide(aRequest({ verb: 'patch' }))?.fault).toEqual(fault);
    expect(plan.decide(aRequest())).toBeUndefined();
  });

  it('are for another request where the server has refused the one that took it', async () => {
    const plan = aPlan();
    const asked = plan.failNext({ code: 500, when: 'after' });
    plan.decide(aRequest())?.planned?.giveBack();
    expect(asked.hits).toBe(0);
    plan.decide(aRequest())?.planned?.hit();
    await asked.done;
    expect(asked.hits).toBe(1);
  });

  it('are not there any more once they are withdrawn', () => {
    const plan = aPlan();
    plan.failNext({ code: 500 }).cancel();
    plan.failNext({ code: 503 });
    plan.clear();
    expect(plan.decide(aRequest())).toBeUndefined();
  });

  it('say when to come back with 429, and with what else is told to', () => {
    const plan = aPlan();
    plan.failNext({ code: 429 });
    plan.failNext({ code: 503, retryAfterSeconds: 7 });
    expect([plan.decide(aRequest()), plan.decide(aRequest())].map((each) => each?.fault)).toMatchObject([
      { reason: 'TooManyRequests', retryAfterSeconds: 1 },
      { reason: 'ServiceUnavailable', retryAfterSeconds: 7 },
    ]);
  });

  it.each([
    { next: {}, problem: 'code: is given or, in its place, connection' },
    {
      next: { code: 500, connection: 'cut' as const },
      problem: 'code: is given or, in its place, connection',
    },
    { next: { code: 200 }, problem: 'code: must be a status from 400 to 599' },
    { next: { code: 500, when: 'during' as 'after' }, problem: 'when: must be before or after' },
    { next: { connection: 'slow' as 'cut' }, problem: 'connection: must be cut or silent' },
    { next: { code: 500, resorce: 'pods' }, problem: 'Unrecognized key: "resorce"' },
    { next: { code: 500, times: 0 }, problem: 'times: must be a whole number from 1' },
  ])('are refused with the name of the field: $problem', ({ next, problem }) => {
    expect(() => aPlan().failNext(next)).toThrow(problem);
  });
});

describe('faults by chance', () => {
  it('hit about as many requests as their rates say', () => {
    const { length } = hitsOf(aPlan({ errorBefore: 0.3 }));
    expect(length).toBeGreaterThan(15);
    expect(length).toBeLessThan(45);
    expect(hitsOf(aPlan({ errorBefore: 1 }))).toHaveLength(100);
    expect(hitsOf(aPlan())).toEqual([]);
  });

  it('are the same with the same seed, whatever other requests come between, and others with another seed', () => {
    const alone = hitsOf(aPlan({ conflict: 0.2 }));
    const plan = aPlan({ conflict: 0.2 });
    const other = aRequest({ name: 'other' });
    const amongOthers = Array.from({ length: 100 }, (_, index) => index).filter(() => {
      plan.decide(other);
      return plan.decide(aRequest());
    });
    expect(amongOthers).toEqual(alone);
    expect(hitsOf(aPlan({ seed: 2, conflict: 0.2 }))).not.toEqual(alone);
  });

  it('hit only what they are for: changes, writes, events of watches', () => {
    const changes = aPlan({ conflict: 1 });
    expect(changes.decide(aRequest({ verb: 'create' }))).toBeUndefined();
    expect(changes.decide(aRequest({ verb: 'patch' }))).toBeDefined();
    const writes = aPlan({ errorAfter: 0.5, lostAfter: 0.5 });
    expect(writes.decide(aRequest({ verb: 'list' }))).toBeUndefined();
    expect(writes.decide(aRequest({ verb: 'delete' }))).toBeDefined();
    const watches = aPlan({ errorBefore: 1, watchGone: 1 });
    expect(watches.decide(aRequest({ verb: 'watch' }))).toBeUndefined();
    expect(watches.decideEvent(aRequest({ verb: 'watch' }))).toBe('gone');
  });

  it('leave leases alone unless they are named', () => {
    const lease = aRequest({ group: 'coordination.k8s.io', resource: 'leases' });
    expect(aPlan({ errorBefore: 1 }).decide(lease)).toBeUndefined();
    expect(aPlan({ errorBefore: 1, resources: ['leases'] }).decide(lease)).toBeDefined();
    expect(aPlan({ errorBefore: 1, resources: ['leases'] }).decide(aRequest())).toBeUndefined();
  });

  it.each([
    { rates: { conflict: 1.5 }, problem: 'rates.conflict: must be from 0 to 1' },
    { rates: { conflicts: 1 } as FaultRates, problem: 'rates: Unrecognized key: "conflicts"' },
    { rates: { errorBefore: 0.6, lostBefore: 0.6 }, problem: 'must not add up to more than 1' },
  ])('are refused with the name of the rate: $problem', ({ problem, rates }) => {
    expect(() => compileFaultRates(rates)).toThrow(problem);
  });
});
