import { describe, expect, it } from 'vitest';
import { aPod } from '../../testing/pod-builder.js';
import { decideFromIntents, parsePodIntents } from './pod-intents.js';

function decide(input: {
  desired: number;
  cached: readonly string[];
  creates?: readonly string[];
  deletes?: readonly string[];
  confirmed?: readonly string[];
  terminating?: readonly string[];
}) {
  const { desired, cached, creates = [], deletes = [], confirmed = [], terminating = [] } = input;
  const pods = new Map(cached.map((name) => [name, aPod({ name })]));
  const leaving = new Map(
    terminating.map((name) => [name, aPod({ name, deletedAt: '2026-01-01T00:00:00Z' })]),
  );
  const decision = decideFromIntents({
    intents: {
      version: 1,
      ownerUid: 'u',
      creates,
      deletes: deletes.map((name) => ({ name, uid: `uid-${name}` })),
    },
    desired,
    cachedActive: [...pods.values()],
    cachedPod: (name) => pods.get(name) ?? leaving.get(name),
    confirmedDeletes: new Set(confirmed.map((name) => `uid-${name}`)),
  });
  return {
    active: decision.active.map(({ metadata }) => metadata.name),
    pending: decision.pendingDeletes.map(({ name }) => name),
    probeCreates: decision.probeCreates,
    probeDeletes: decision.probeDeletes.map(({ name }) => name),
  };
}

const nothing = { pending: [], probeCreates: [], probeDeletes: [] };

describe('decideFromIntents', () => {
  it('asks before anything else about creations that the cache does not show, however many are wanted', () => {
    for (const desired of [3, 4, 5])
      expect(decide({ desired, cached: ['a', 'b', 'c'], creates: ['c', 'd', 'e'] })).toEqual({
        ...nothing,
        active: ['a', 'b', 'c'],
        probeCreates: ['d', 'e'],
      });
  });

  it('takes a creation as done whatever became of the pod since', () => {
    expect(decide({ desired: 2, cached: ['a'], creates: ['b'], terminating: ['b'] })).toEqual({
      ...nothing,
      active: ['a'],
    });
  });

  it('does not count pods that are to be deleted, and takes those as done that are gone or terminating', () => {
    expect(decide({ desired: 1, cached: ['a', 'b'], deletes: ['b', 'c', 'd'], terminating: ['c'] })).toEqual({
      ...nothing,
      active: ['a'],
      pending: ['b'],
    });
  });

  it('names what shows that intents are settled: pods in any state, or that one is not there', () => {
    const settledBy = (creates: readonly string[], deletes: readonly string[]) =>
      decideFromIntents({
        intents: {
          version: 1,
          ownerUid: 'u',
          creates,
          deletes: deletes.map((name) => ({ name, uid: `uid-${name}` })),
        },
        desired: 2,
        cachedActive: [aPod({ name: 'a' }), aPod({ name: 'b' })],
        cachedPod: (name) =>
          name === 'gone' || name === 'unseen'
            ? undefined
            : aPod({ name, ...(name === 'leaving' && { deletedAt: '2026-01-01T00:00:00Z' }) }),
        confirmedDeletes: new Set(),
      }).settledBy;
    const namesOf = ({ pods }: ReturnType<typeof settledBy>) => pods.map(({ metadata }) => metadata.name);
    expect(namesOf(settledBy(['a', 'unseen'], ['b', 'leaving']))).toEqual(['a', 'leaving']);
    expect(settledBy(['unseen'], ['b', 'leaving']).absence).toBe(false);
    expect(settledBy([], ['gone'])).toEqual({ pods: [], absence: true });
  });

  it('takes a deletion as done when the name belongs to another pod by now', () => {
    const decision = decideFromIntents({
      intents: { version: 1, ownerUid: 'u', creates: [], deletes: [{ name: 'a', uid: 'old' }] },
      desired: 1,
      cachedActive: [aPod({ name: 'a' })],
      cachedPod: () => aPod({ name: 'a' }),
      confirmedDeletes: new Set(),
    });
    expect(decision.active).toHaveLength(1);
    expect(decision.pendingDeletes).toEqual([]);
  });

  it('asks about a deletion that is no longer wanted, unless it is known to have happened', () => {
    const state = { desired: 3, cached: ['a', 'b', 'c'], deletes: ['b', 'c'], confirmed: ['c'] };
    expect(decide(state)).toEqual({ ...nothing, active: ['a'], pending: ['b', 'c'], probeDeletes: ['b'] });
  });
});

describe('parsePodIntents', () => {
  it.each([
    ['nothing', undefined],
    ['another version', { version: 2, ownerUid: 'u', creates: ['a'], deletes: [] }],
    ['a namesake that is gone', { version: 1, ownerUid: 'old', creates: ['a'], deletes: [] }],
    ['something else', 'text'],
  ])('takes %s as none', (_name, stored) => {
    expect(parsePodIntents(stored, 'u')).toEqual({ version: 1, ownerUid: 'u', creates: [], deletes: [] });
  });
});
