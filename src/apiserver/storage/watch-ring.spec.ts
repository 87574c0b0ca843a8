import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import type { LogEntry } from './log-entry.js';
import type { WatchRingLimits } from './watch-ring.js';
import { WatchRing } from './watch-ring.js';

const START = { revision: 10, writeId: 'start' };

function entry(revision: number, text = '{}', resource = 'pods'): LogEntry {
  return {
    type: 'created',
    key: { resource, namespace: 'default', name: `p${revision}` },
    revision,
    text,
    writeId: `w${revision}`,
    previousRevision: revision - 1,
    previousWriteId: revision === 11 ? 'start' : `w${revision - 1}`,
  };
}

function aRing(limits: Partial<WatchRingLimits> = {}, clock = new FakeClock()): WatchRing {
  return new WatchRing(START, { maxEntries: 100, maxTextLength: 1000, wakeEveryMs: 0, ...limits }, clock);
}

function revisions(entries: readonly LogEntry[] | undefined): number[] | undefined {
  return entries?.map(({ revision }) => revision);
}

describe('WatchRing', () => {
  it('begins empty, at the revision where it starts', () => {
    const ring = aRing();
    expect(ring).toMatchObject({ last: 10, lastWriteId: 'start', size: 0 });
    expect(ring.after(10, 5)).toEqual([]);
    expect(ring.after(9, 5)).toBeUndefined();
  });

  it('gives what is after a revision, a batch at most', () => {
    const ring = aRing();
    ring.append([entry(11), entry(12), entry(13)]);
    expect(revisions(ring.after(10, 2))).toEqual([11, 12]);
    expect(revisions(ring.after(12, 2))).toEqual([13]);
    expect(ring.lastWriteId).toBe('w13');
  });

  it.each([
    { name: 'entries', limits: { maxEntries: 3 } },
    { name: 'text', limits: { maxTextLength: 35 } },
  ])('keeps the newest when it has too much $name', ({ limits }) => {
    const ring = aRing(limits);
    for (let revision = 11; revision <= 200; revision++) ring.append([entry(revision, 'x'.repeat(10))]);
    expect(ring.size).toBe(3);
    expect(revisions(ring.after(197, 10))).toEqual([198, 199, 200]);
    expect(ring.after(196, 10)).toBeUndefined();
  });

  it('holds nothing of the entries that it has dropped', () => {
    const ring = aRing({ maxEntries: 10 });
    for (let revision = 11; revision <= 25; revision++) ring.append([entry(revision, `text ${revision}.`)]);
    const held = inspect(ring, { depth: 3, maxArrayLength: null });
    expect(held.match(/text \d+/g)?.[0]).toBe('text 16');
  });

  it('keeps the newest entry however long it is', () => {
    const ring = aRing({ maxTextLength: 5 });
    ring.append([entry(11, 'x'.repeat(100))]);
    expect(revisions(ring.after(10, 1))).toEqual([11]);
  });

  it('forgets what it is told to', () => {
    const ring = aRing();
    ring.append([entry(11), entry(12), entry(13)]);
    ring.forget(12);
    expect(ring.after(11, 1)).toBeUndefined();
    expect(revisions(ring.after(12, 1))).toEqual([13]);
    ring.forget(13);
    expect(ring.after(13, 1)).toEqual([]);
    ring.append([entry(14)]);
    expect(revisions(ring.after(13, 1))).toEqual([14]);
  });

  it('refuses a gap', () => {
    expect(() => aRing().append([entry(12)])).toThrow('from 10 to 12');
  });

  it('refuses an entry of another history, though its revision fits', () => {
    expect(() => aRing().append([{ ...entry(11), previousWriteId: 'another' }])).toThrow('from 10 to 11');
  });

  it('goes on over an opening of the store, and knows nothing of the revisions that it left out', () => {
    const ring = aRing();
    const opened = {
      type: 'opened',
      revision: 500,
      previousRevision: 11,
      writeId: 'o',
      previousWriteId: 'w11',
    } as const;
    ring.append([entry(11), opened, { ...entry(501), previousWriteId: 'o' }]);
    expect(revisions(ring.after(10, 9))).toEqual([11, 500, 501]);
    expect(revisions(ring.after(11, 9))).toEqual([500, 501]);
    expect(revisions(ring.after(500, 9))).toEqual([501]);
    expect(ring.after(12, 9)).toBeUndefined();
    expect(ring.after(499, 9)).toBeUndefined();
  });

  it('wakes at once after a silence, and then for all that comes within its time', async () => {
    const clock = new FakeClock();
    const ring = aRing({ wakeEveryMs: 50 }, clock);
    const seen: number[] = [];
    const follow = (): void => {
      seen.push(ring.last);
      ring.onChange('pods', follow);
    };
    ring.onChange('pods', follow);
    ring.append([entry(11)]);
    expect(seen).toEqual([11]);
    ring.append([entry(12)]);
    ring.append([entry(13)]);
    expect(seen).toEqual([11]);
    await clock.advance(50);
    expect(seen).toEqual([11, 13]);
    ring.append([entry(14)]);
    ring.fail(new Error('lost'));
    expect(seen).toEqual([11, 13, 14]);
  });

  it('wakes who waits once, for news and for its end', () => {
    const ring = aRing();
    const woken: string[] = [];
    ring.onChange('pods', () => woken.push('first'));
    ring.onChange('pods', () => woken.push('gone'))();
    ring.append([entry(11)]);
    ring.append([entry(12)]);
    ring.onChange('pods', () => woken.push('second'));
    ring.fail(new Error('lost'));
    ring.fail(new Error('again'));
    expect(woken).toEqual(['first', 'second']);
    expect(ring.failure?.message).toBe('lost');
  });

  it('wakes no watcher of another resource, and knows up to where there is nothing for one', () => {
    const ring = aRing();
    const woken: string[] = [];
    for (const resource of ['pods', 'services'])
      ring.onChange(resource, () => woken.push(`${resource} after ${ring.quietUntil(resource)}`));
    ring.append([entry(11, '{}', 'nodes'), entry(12, '{}', 'services'), entry(13, '{}', 'services')]);
    expect(woken).toEqual(['services after 11']);
    expect(ring.quietUntil('pods')).toBe(13);
    ring.append([entry(14), entry(15)]);
    expect(woken).toEqual(['services after 11', 'pods after 13']);
  });

  it('counts what watchers have not been woken for as news', async () => {
    const clock = new FakeClock();
    const ring = aRing({ wakeEveryMs: 50 }, clock);
    ring.append([entry(11, '{}', 'nodes')]);
    ring.append([entry(12, '{}', 'nodes'), entry(13)]);
    expect(ring.quietUntil('pods')).toBe(12);
    await clock.advance(50);
    expect(ring.quietUntil('pods')).toBe(13);
  });
});
