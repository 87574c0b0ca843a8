import { describe, expect, it } from 'vitest';

type Entry = Readonly<Record<string, unknown>> & { readonly at: string; readonly kind: string };
interface Moment {
  readonly wanted?: number;
  readonly revision?: string;
  readonly result?: string;
  readonly isPaused: boolean;
  readonly sizes: readonly { readonly replicaSet: string; readonly size: number }[];
}

const PAGE_SCRIPT = new URL('public/timeline-at.js', import.meta.url).href;
const { momentOf, revisionBefore, sizeSteps, stopsOf, whyNoChart, withSizesOfEvents } = (await import(
  PAGE_SCRIPT
)) as {
  readonly momentOf: (entries: readonly Entry[], atMs: number) => Moment;
  readonly revisionBefore: (entries: readonly Entry[], entry: Entry) => string | undefined;
  readonly sizeSteps: (entries: readonly Entry[]) => readonly (readonly [number, number])[];
  readonly stopsOf: (entries: readonly Entry[]) => readonly number[];
  readonly whyNoChart: (entries: readonly Entry[], kind?: string) => string | undefined;
  readonly withSizesOfEvents: (entries: readonly Entry[]) => readonly Entry[];
};

const START_MS = Date.UTC(2026, 0, 1, 12);
const at = (seconds: number) => new Date(START_MS + seconds * 1000).toISOString();
const ms = (seconds: number) => START_MS + seconds * 1000;

const ENTRIES: readonly Entry[] = [
  { at: at(0), kind: 'created', what: 'created' },
  { at: at(1), kind: 'asked', revision: '1', by: 'anna', what: 'a new template' },
  { at: at(1), kind: 'sized', replicaSet: 'web-a', sizes: { from: 0, to: 3 }, what: 'web-a' },
  { at: at(5), kind: 'ended', revision: '1', result: 'complete', what: 'complete' },
  { at: at(20), kind: 'scaled', sizes: { from: 3, to: 4 }, what: 'scaled' },
  { at: at(21), kind: 'sized', replicaSet: 'web-a', sizes: { from: 3, to: 4 }, what: 'web-a' },
  { at: at(60), kind: 'asked', revision: '2', by: 'ben', what: 'a new template' },
  { at: at(61), kind: 'sized', replicaSet: 'web-b', sizes: { from: 0, to: 2 }, what: 'web-b' },
  { at: at(62), kind: 'sized', replicaSet: 'web-a', sizes: { from: 4, to: 0 }, what: 'web-a' },
  { at: at(63), kind: 'paused', what: 'paused' },
  { at: at(64), kind: 'event', what: 'an Event' },
];

describe('a moment of a time line', () => {
  it('has the sizes, the revision and its end as they were then', () => {
    expect(momentOf(ENTRIES, ms(2))).toMatchObject({
      revision: '1',
      result: undefined,
      sizes: [{ replicaSet: 'web-a', size: 3 }],
    });
    expect(momentOf(ENTRIES, ms(30))).toMatchObject({ revision: '1', result: 'complete', wanted: 4 });
    expect(momentOf(ENTRIES, ms(100))).toMatchObject({
      revision: '2',
      by: 'ben',
      result: undefined,
      isPaused: true,
      sizes: [{ replicaSet: 'web-b', size: 2 }],
    });
  });

  it('says nothing of what came later, or of what is not known', () => {
    expect(momentOf(ENTRIES, ms(-1))).toMatchObject({ sizes: [], isPaused: false });
    expect(momentOf([], ms(0))).toMatchObject({ sizes: [], isPaused: false });
  });
});

describe('the line of sizes', () => {
  it('is the sum of all ReplicaSets, from each moment on', () => {
    expect(sizeSteps(ENTRIES).map(([when, size]) => [(when - START_MS) / 1000, size])).toEqual([
      [1, 0],
      [1, 3],
      [21, 4],
      [61, 6],
      [62, 2],
    ]);
  });

  it('comes from Events where no history is kept, and only there', () => {
    const what = 'ScalingReplicaSet: Scaled up replica set web-a from 0 to 3';
    const event: Entry = { at: at(1), kind: 'event', what };
    expect(sizeSteps(withSizesOfEvents([event])).map(([, size]) => size)).toEqual([0, 3]);
    expect(withSizesOfEvents([...ENTRIES, event])).toEqual([...ENTRIES, event]);
  });

  it('has no step between the sizes of one decision', () => {
    const both: readonly Entry[] = [
      { at: at(1), kind: 'sized', replicaSet: 'web-a', sizes: { from: 4, to: 2 }, what: '' },
      { at: at(1), kind: 'sized', replicaSet: 'web-b', sizes: { from: 0, to: 3 }, what: '' },
    ];
    expect(sizeSteps(both).map(([, size]) => size)).toEqual([4, 5]);
  });

  it('begins with what a ReplicaSet had before its first known change', () => {
    const later = ENTRIES.filter(({ at: when }) => Date.parse(when) > ms(30));
    expect(sizeSteps(later)[0]?.[1]).toBe(4);
    expect(sizeSteps([])).toEqual([]);
  });
});

it('the revision before another one is the last one that was asked for', () => {
  expect(revisionBefore(ENTRIES, ENTRIES[6]!)).toBe('1');
  expect(revisionBefore(ENTRIES, ENTRIES[1]!)).toBeUndefined();
});

it('one steps from change to change, not through each size or Event', () => {
  expect(stopsOf(ENTRIES).map((when) => (when - START_MS) / 1000)).toEqual([0, 1, 5, 20, 60, 63]);
});

describe('a time line without sizes', () => {
  const unsized = ENTRIES.filter(({ kind }) => kind !== 'sized');

  it('has no chart, and says why: of a set none are recorded', () => {
    for (const kind of ['StatefulSet', 'DaemonSet'])
      expect(whyNoChart(unsized, kind)).toBe(
        `There is no chart: Kubernetes does not record how many pods each version of a ${kind} had.`,
      );
    expect(whyNoChart(unsized)).toBe('There is no chart: no size was recorded in this period.');
  });

  it('has a chart if a size or a sum of sizes is known', () => {
    const summed = [{ at: at(0), kind: 'summary', what: '', sizes: { least: 1, most: 3 } }];
    expect([ENTRIES, summed].map((entries) => whyNoChart(entries))).toEqual([undefined, undefined]);
  });
});
