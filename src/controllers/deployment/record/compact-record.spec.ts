import { describe, expect, it } from 'vitest';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { LEVEL_SIZES, compactRecord } from './compact-record.js';
import type { DeploymentRecord } from './deployment-record.js';
import { EMPTY_RECORD, entriesOf, readRecord, renderRecord } from './deployment-record.js';
import type { RecordEntry } from './record-entry.js';
import { wordsOf } from './words.js';

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
const FOURTEEN_DAYS = 14 * DAY_MS;

/** One change of the template with four steps; each twentieth fails. */
function changeEntries(number: number, atMs: number): readonly RecordEntry[] {
  const revision = String(number);
  const hasFailed = number % 20 === 0;
  const at = (seconds: number): string => toRfc3339(atMs + seconds * 1000);
  const step = (seconds: number, from: number, to: number): RecordEntry => ({
    ...{ at: at(seconds), kind: 'sized', replicaSet: `web-${number.toString(16)}`, sizes: { from, to } },
    sums: '13 of at most 13 pods; 8 available of at least 8; waits-in-step',
  });
  return [
    {
      ...{ at: at(0), kind: 'asked', revision, by: number % 2 === 0 ? 'anna' : 'ci (deploy)' },
      ...{ with: 'kubectl-set', means: 'user', why: 'the new shop' },
      what: `container app: image registry.example.com/shop/web:${number - 1} → registry.example.com/shop/web:${number}`,
    },
    ...[step(1, 0, 3), step(2, 10, 8), step(10, 3, 10), step(20, 8, 0)],
    {
      ...{ at: at(30), kind: hasFailed ? 'failed' : 'ended', revision, tookMs: 30_000 },
      result: hasFailed ? 'failed' : 'complete',
      ...(hasFailed && { why: 'its pods crashed' }),
    },
  ];
}

interface Grown {
  readonly record: DeploymentRecord;
  readonly largest: number;
  readonly nowMs: number;
}

/** So many changes, each written on its own, as it is with a rollout at a time. */
function grown(changes: number, everyMs: number, keptForMs = FOURTEEN_DAYS): Grown {
  let record = EMPTY_RECORD;
  let largest = 0;
  let nowMs = START_MS;
  for (let number = 1; number <= changes; number++) {
    nowMs = START_MS + number * everyMs;
    const recent = [...record.recent, ...changeEntries(number, nowMs)];
    record = compactRecord({ ...record, recent }, { keptForMs, nowMs });
    if (number % 10 === 0) largest = Math.max(largest, sizeOf(record));
  }
  return { record, largest, nowMs };
}

function sizeOf(record: DeploymentRecord): number {
  return Object.values(renderRecord(record)).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function counted(entries: readonly RecordEntry[]) {
  let [changes, failed] = [0, 0];
  for (const { counts, kind, result } of entries) {
    if (kind === 'summary') {
      changes += counts?.changes ?? 0;
      failed += counts?.failed ?? 0;
      continue;
    }
    if (kind === 'asked' || kind === 'change') changes += 1;
    if (result === 'failed') failed += 1;
  }
  return { changes, failed };
}

describe('the record of a Deployment', () => {
  it('keeps two weeks of 20 changes an hour in less than 130 KiB, and counts each of them', () => {
    const all = 20 * 24 * 14;
    const { largest, record } = grown(all, 180_000);
    expect(largest).toBeLessThan(130 * 1024);
    expect(counted(entriesOf(record))).toEqual({ changes: all, failed: all / 20 });
    const finest = entriesOf(record).filter(({ kind }) => kind === 'asked' || kind === 'change');
    // The last hours are reported change by change.
    expect(finest.length).toBeGreaterThan(100);
  });

  it('drops what is older than it is kept', () => {
    const { nowMs, record } = grown(20 * 24 * 3, 180_000, 2 * DAY_MS);
    const [first] = entriesOf(record);
    expect(Date.parse(first?.until ?? first?.at ?? '')).toBeGreaterThanOrEqual(nowMs - 2 * DAY_MS);
  });

  it('keeps everything as it was while there is room', () => {
    const entries = [1, 2, 3].flatMap((number) => changeEntries(number, START_MS + number * DAY_MS));
    const record = compactRecord(
      { ...EMPTY_RECORD, recent: entries },
      { keptForMs: FOURTEEN_DAYS, nowMs: START_MS + 4 * DAY_MS },
    );
    expect(entriesOf(record)).toEqual(entries);
  });

  it('is bounded, whatever is asked: the oldest days go first', () => {
    const { largest, nowMs, record } = grown(10 * 24 * 40, 360_000, 90 * DAY_MS);
    expect(largest).toBeLessThan(130 * 1024);
    expect(record.days.length).toBeGreaterThan(20);
    expect(Date.parse(record.recent.at(-1)?.at ?? '')).toBeGreaterThan(nowMs);
  });

  it('says of an older change who asked, what, how it ended and in how many steps', () => {
    const { record } = grown(200, 180_000);
    const change = record.changes.findLast(({ result }) => result === 'failed');
    expect(change).toMatchObject({ kind: 'change', by: 'anna', means: 'user', counts: { steps: 4 } });
    expect(change?.why).toBe('its pods crashed');
    expect(wordsOf(change as RecordEntry)).toMatch(
      /^failed; container app: image .*; its pods crashed after 30s$/,
    );
  });

  it('joins the end of a rollout that took long with what was asked before', () => {
    const [asked] = changeEntries(7, START_MS);
    const ended: RecordEntry = {
      ...{
        at: toRfc3339(START_MS + DAY_MS),
        kind: 'ended',
        revision: '7',
        result: 'complete',
        tookMs: DAY_MS,
      },
    };
    const filler = Array.from({ length: 400 }, (_, n): RecordEntry => ({
      ...{
        at: toRfc3339(START_MS + DAY_MS + 1000 + n),
        kind: 'scaled',
        sizes: { from: 1, to: 2 },
        with: 'kubectl',
      },
    }));
    const record = compactRecord(
      { ...EMPTY_RECORD, changes: [{ ...asked, kind: 'change' } as RecordEntry], recent: [ended, ...filler] },
      { keptForMs: FOURTEEN_DAYS, nowMs: START_MS + DAY_MS },
    );
    const ofIt = entriesOf(record).filter(({ revision }) => revision === '7');
    expect(ofIt).toMatchObject([{ kind: 'change', result: 'complete', tookMs: DAY_MS }]);
  });

  it('comes to the same again when nothing is added', () => {
    const { nowMs, record } = grown(500, 180_000);
    expect(compactRecord(record, { keptForMs: FOURTEEN_DAYS, nowMs })).toEqual(record);
  });

  it('is the same after it was written and read, and leaves out what another hand wrote', () => {
    const { record } = grown(300, 180_000);
    const data = renderRecord(record);
    expect(readRecord({ data })).toEqual(record);
    expect(readRecord({ data: { ...data, recent: `${data['recent']}{"at":1}\nnonsense\n` } })).toEqual(
      record,
    );
    expect(readRecord({ data: { state: '[]', recent: '' } })).toEqual(EMPTY_RECORD);
  });

  it('has no level beyond its size', () => {
    const { record } = grown(3000, 180_000);
    const data = renderRecord(record);
    for (const [level, most] of Object.entries(LEVEL_SIZES))
      expect(data[level]?.length ?? 0).toBeLessThanOrEqual(most);
  });
});
