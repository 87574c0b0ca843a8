import { describe, expect, it } from 'vitest';
import type { UnansweredWrite } from '../activation/index.js';
import { ApiStatusError } from '../../client/api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { ReplicaSet } from '../../machinery/kubernetes/index.js';
import { FakeCluster, refusal } from '../../testing/fake-cluster.js';
import { aReplicaSet } from '../../testing/replicaset-harness.js';
import { judgeUnanswered, settleUnanswered } from './settle-unanswered.js';

const NOTED = 1_800_000_000_000;
const ref = { namespace: 'default', name: 'web' };
const lost = (more: Partial<UnansweredWrite> = {}): UnansweredWrite => ({
  verb: 'update',
  type: ReplicaSet,
  ref,
  mayBeUnderWay: true,
  notedAtMs: NOTED,
  ...more,
});
const at = (resourceVersion: string, deletionTimestamp?: string) => ({
  metadata: { ...ref, resourceVersion, deletionTimestamp },
});
const waits = (ms: number) => ({ settled: false, retryAfterMs: ms });
const settledAt = (resourceVersion: string) => ({ settled: true, resourceVersion });

describe('the word of an object on a write that came to no answer', () => {
  it('is settled at once by what shows that it was stored, or cannot be any more', () => {
    const judge = (write: UnansweredWrite, found: Parameters<typeof judgeUnanswered>[1]) =>
      judgeUnanswered(write, found, NOTED);
    expect(judge(lost({ replaces: '7' }), at('8'))).toEqual(settledAt('8'));
    expect(judge(lost({ verb: 'create' }), at('8'))).toEqual(settledAt('8'));
    expect(judge(lost({ verb: 'delete' }), at('8', '2026-01-01T00:00:00Z'))).toEqual(settledAt('8'));
    expect(judge(lost({ verb: 'delete' }), undefined)).toEqual({ settled: true });
    expect(judge(lost({ replaces: '7' }), undefined)).toEqual({ settled: true });
  });

  it('waits for a second where the server may still be at work on it, and not longer', () => {
    const cases = [
      { write: lost({ replaces: '7' }), found: at('7') },
      { write: lost({ verb: 'patch' }), found: at('8') },
      { write: lost({ verb: 'delete' }), found: at('8') },
      { write: lost({ verb: 'create' }), found: undefined },
    ];
    for (const { found, write } of cases) {
      expect(judgeUnanswered(write, found, NOTED + 14)).toEqual(waits(986));
      expect(judgeUnanswered(write, found, NOTED + 1000).settled).toBe(true);
    }
  });

  it('counts by the clock of the store, whatever the clock of the replica that noted it has shown', () => {
    for (const notedAtMs of [NOTED - 3_600_000, NOTED, NOTED + 3_600_000]) {
      expect(judgeUnanswered(lost({ notedAtMs, ageMs: 14 }), at('8'), NOTED)).toEqual(waits(986));
      expect(judgeUnanswered(lost({ notedAtMs, ageMs: 1000 }), at('8'), NOTED).settled).toBe(true);
    }
  });

  it('waits for nothing where the server has said that it failed', () => {
    const failed = lost({ mayBeUnderWay: false, replaces: '7' });
    expect(judgeUnanswered(failed, at('7'), NOTED)).toEqual(settledAt('7'));
  });
});

describe('settling the writes of a key that came to no answer', () => {
  function setUp(unanswered: readonly UnansweredWrite[]) {
    const settled: [string, string | undefined][] = [];
    const renoted: UnansweredWrite[] = [];
    const cluster = new FakeCluster(new FakeClock());
    const { signal } = new AbortController();
    const activation = {
      unanswered,
      signal,
      noteUnanswered: (write: UnansweredWrite) => void renoted.push(write),
      settleUnanswered: (write: UnansweredWrite, version?: string) =>
        void settled.push([write.ref.name, version]),
    };
    const settle = (nowMs: number) => settleUnanswered(activation, { client: cluster, now: () => nowMs });
    return { cluster, renoted, settle, settled };
  }

  it('makes what is there a thing that must have been seen, and forgets what never came', async () => {
    const { cluster, settle, settled } = setUp([
      lost(),
      lost({ verb: 'create', ref: { ...ref, name: 'other' } }),
    ]);
    const { metadata } = cluster.seed(ReplicaSet, aReplicaSet());
    expect(await settle(NOTED + 1000)).toBe(2);
    expect(settled).toEqual([
      ['web', metadata.resourceVersion],
      ['other', undefined],
    ]);
  });

  it('comes back when the last of them can no longer be under way, with those settled that are', async () => {
    const { cluster, settle, settled } = setUp([
      lost({ replaces: '0' }),
      lost({ verb: 'create', ref: { ...ref, name: 'other' }, notedAtMs: NOTED - 500 }),
      lost({ verb: 'create', ref: { ...ref, name: 'third' } }),
    ]);
    cluster.seed(ReplicaSet, aReplicaSet());
    await expect(settle(NOTED + 100)).rejects.toMatchObject({
      code: 'WRITE_UNDER_WAY',
      retryAfterMs: 900,
      message: 'the create of replicasets "third" came to no answer and may still be stored',
    });
    expect(settled.map(([name]) => name)).toEqual(['web']);
  });

  it('counts from now where a clock was ahead when the write was noted, also for those that come later', async () => {
    const ahead = lost({ verb: 'create', notedAtMs: NOTED + 3_600_000 });
    const { renoted, settle, settled } = setUp([ahead]);
    await expect(settle(NOTED)).rejects.toMatchObject({ code: 'WRITE_UNDER_WAY', retryAfterMs: 1000 });
    expect(settled).toEqual([['web', undefined]]);
    expect(renoted).toEqual([{ ...ahead, notedAtMs: NOTED }]);
    const later = setUp(renoted);
    expect(await later.settle(NOTED + 1000)).toBe(1);
    expect(later.renoted).toEqual([]);
  });

  it('counts from now as well where what was noted ahead may not be read', async () => {
    const { cluster, renoted, settle } = setUp([lost({ notedAtMs: NOTED + 3_600_000 })]);
    cluster.intercept = () => refusal(403, 'Forbidden', 'cannot get');
    await expect(settle(NOTED)).rejects.toThrow('cannot get');
    expect(renoted).toEqual([lost({ notedAtMs: NOTED })]);
  });

  it('fails with the read, and settles nothing by it', async () => {
    const { cluster, settle, settled } = setUp([lost()]);
    cluster.intercept = () => new ApiStatusError({ code: 500, reason: 'InternalError' });
    await expect(settle(NOTED + 60_000)).rejects.toThrow('500');
    expect(settled).toEqual([]);
  });

  it('does without what it may not read, but not before that has been so for a while', async () => {
    const { cluster, settle, settled } = setUp([lost()]);
    cluster.intercept = () => refusal(403, 'Forbidden', 'cannot get');
    await expect(settle(NOTED + 29_999)).rejects.toThrow('cannot get');
    expect(await settle(NOTED + 30_000)).toBe(1);
    expect(settled).toEqual([['web', undefined]]);
  });

  it('does at once without what it may delete and not read', async () => {
    const { cluster, settle, settled } = setUp([lost({ verb: 'delete' })]);
    cluster.intercept = () => refusal(403, 'Forbidden', 'cannot get');
    expect(await settle(NOTED)).toBe(1);
    expect(settled).toEqual([['web', undefined]]);
  });
});
