import { describe, expect, it } from 'vitest';
import type { TimelineEntry } from './timeline.js';
import { joinTimelines } from './whole-timeline.js';

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
const entry = (
  minute: number,
  kind: TimelineEntry['kind'],
  more: Partial<TimelineEntry> = {},
): TimelineEntry => ({
  ...{ at: at(minute), kind, what: '' },
  ...more,
});

describe('a kept history and what is live', () => {
  it('tell each thing once, in the words of what is live', () => {
    const kept = [
      entry(0, 'created', { what: 'kept' }),
      entry(1, 'asked', { revision: '1', what: 'kept' }),
      entry(2, 'sized', { replicaSet: 'web-1' }),
      entry(3, 'ended', { revision: '1', what: 'kept' }),
    ];
    const live = [
      entry(0, 'created', { what: 'live' }),
      entry(1, 'asked', { revision: '1', what: 'live' }),
      entry(3, 'ended', { revision: '1', what: 'live' }),
      entry(4, 'event'),
    ];
    const joined = joinTimelines(kept, live);
    expect(joined.map(({ kind, what }) => `${kind} ${what}`.trim())).toEqual([
      ...['created live', 'asked live', 'sized', 'ended live', 'event'],
    ]);
  });

  it('count a change once that is in a coarser entry', () => {
    const kept = [
      entry(0, 'summary', { until: at(10), counts: { changes: 2 } }),
      entry(12, 'change', { revision: '3', result: 'complete' }),
    ];
    const live = [
      entry(5, 'asked', { revision: '2' }),
      entry(12, 'asked', { revision: '3' }),
      entry(13, 'ended', { revision: '3' }),
      entry(14, 'asked', { revision: '4' }),
    ];
    expect(joinTimelines(kept, live).map(({ kind, revision }) => `${kind} ${revision ?? ''}`.trim())).toEqual(
      [...['summary', 'change 3', 'asked 4']],
    );
  });

  it('are what is live alone, where nothing was kept', () => {
    const live = [entry(0, 'created'), entry(1, 'asked', { revision: '1' })];
    expect(joinTimelines([], live)).toEqual(live);
  });
});
