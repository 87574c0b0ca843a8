import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { shortenedTo } from '../../shared/index.js';
import type { DeploymentRecord, Level } from './deployment-record.js';
import { renderLines } from './deployment-record.js';
import type { RecordCounts, RecordEntry, RecordSizes } from './record-entry.js';
import { byTime } from './record-entry.js';

/**
 * The most that each level holds, in characters. Together with the state a record stays below 130 KiB, where the API takes 1 MiB. Two
 * weeks of 20 changes an hour fit: the last hours whole, the hours before that a line for each change, and the rest a line an hour.
 */
export const LEVEL_SIZES: Readonly<Record<Level, number>> = {
  recent: 24_000,
  changes: 28_000,
  hours: 60_000,
  days: 12_000,
};
/** A level that is full is emptied to this share, so that few writes compact. */
const KEPT_SHARE = 0.75;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MOST_FAILURES = 3;
const MOST_NAMES = 5;
/** The longest text in an entry that was made coarser. Characters. */
const SHORT_TEXT = 80;

/** Drops what is too old, and makes the oldest entries of each level that is full coarser. Pure, and the same for the same record. */
export function compactRecord(
  record: DeploymentRecord,
  { keptForMs, nowMs }: { readonly keptForMs: number; readonly nowMs: number },
): DeploymentRecord {
  const isKept = ({ at, until }: RecordEntry): boolean => Date.parse(until ?? at) >= nowMs - keptForMs;
  const recent = overflowOf('recent', record.recent.filter(isKept));
  const changes = overflowOf('changes', addChanges(record.changes.filter(isKept), recent.moved));
  const hours = overflowOf('hours', addSummaries(record.hours.filter(isKept), changes.moved, HOUR_MS));
  const days = overflowOf('days', addSummaries(record.days.filter(isKept), hours.moved, DAY_MS));
  return {
    ...{ recent: recent.kept, changes: changes.kept, hours: hours.kept, days: days.kept },
    state: record.state,
  };
}

interface Overflow {
  readonly kept: readonly RecordEntry[];
  /** The oldest. */
  readonly moved: readonly RecordEntry[];
}

function overflowOf(level: Level, entries: readonly RecordEntry[]): Overflow {
  const size = LEVEL_SIZES[level];
  const each = entries.map(lengthOf);
  let total = each.reduce((sum, length) => sum + length, 0);
  if (total <= size) return { kept: entries, moved: [] };
  let first = 0;
  while (total > size * KEPT_SHARE) total -= each[first++] ?? total;
  return { kept: entries.slice(first), moved: entries.slice(0, first) };
}

const lengths = new WeakMap<RecordEntry, number>();

/** The length of an entry's line. Entries never change, and most stay for many writes. */
function lengthOf(entry: RecordEntry): number {
  const length = lengths.get(entry) ?? renderLines([entry]).length;
  lengths.set(entry, length);
  return length;
}

/** A request and its end become one entry per revision; steps are counted in it. */
function addChanges(changes: readonly RecordEntry[], moved: readonly RecordEntry[]): readonly RecordEntry[] {
  if (moved.length === 0) return changes;
  const all = [...changes];
  for (const entry of moved) {
    const at = all.findLastIndex(({ kind, revision }) => kind === 'change' && isFor(entry, revision));
    const known = all[at];
    if (entry.kind === 'asked') all.push(changeOf(entry));
    else if (entry.kind === 'ended' || entry.kind === 'failed') {
      if (known) all[at] = { ...known, ...endOf(entry) };
      // A request that is in a summary already is counted there.
      else all.push({ ...entry, ...endOf(entry) });
    } else if (entry.kind === 'sized') countStep(all, entry);
    else if (entry.kind !== 'good') all.push(entry);
  }
  return all.toSorted(byTime);
}

function isFor({ revision }: RecordEntry, other: string | undefined): boolean {
  return revision !== undefined && revision === other;
}

function changeOf({ at, by, means, revision, what, why, with: tool }: RecordEntry): RecordEntry {
  return {
    ...{ at, kind: 'change' },
    ...(revision !== undefined && { revision }),
    ...(by !== undefined && { by }),
    ...(tool !== undefined && { with: tool }),
    ...(means !== undefined && { means }),
    ...(what !== undefined && { what: short(what) }),
    ...(why !== undefined && { why: short(why) }),
  };
}

function endOf({ result, tookMs, why }: RecordEntry): Partial<RecordEntry> {
  return {
    ...(result !== undefined && { result }),
    ...(tookMs !== undefined && { tookMs }),
    ...(why !== undefined && { why: short(why) }),
  };
}

/** By the newest entry that can count them; a step without one is of no rollout. */
function countStep(entries: RecordEntry[], { at, sizes }: RecordEntry): void {
  const last = entries.findLastIndex(({ kind }) => kind === 'change' || kind === 'scaled');
  const entry = entries[last];
  if (!entry) return void entries.push({ at, kind: 'change', counts: { steps: 1 }, ...(sizes && { sizes }) });
  entries[last] = { ...entry, counts: { ...entry.counts, steps: (entry.counts?.steps ?? 0) + 1 } };
}

/** One entry per hour, or per day. */
function addSummaries(
  summaries: readonly RecordEntry[],
  moved: readonly RecordEntry[],
  spanMs: number,
): readonly RecordEntry[] {
  if (moved.length === 0) return summaries;
  const byStart = new Map(summaries.map((summary) => [Date.parse(summary.at), summary]));
  for (const entry of moved) {
    const startMs = Math.floor(Date.parse(entry.at) / spanMs) * spanMs;
    const known = byStart.get(startMs) ?? emptySummary(startMs, spanMs);
    byStart.set(startMs, merged(known, entry));
  }
  return [...byStart].toSorted(([a], [b]) => a - b).map(([, summary]) => summary);
}

function emptySummary(startMs: number, spanMs: number): RecordEntry {
  return { at: toRfc3339(startMs), until: toRfc3339(startMs + spanMs), kind: 'summary' };
}

function merged(summary: RecordEntry, entry: RecordEntry): RecordEntry {
  const failures = [...(summary.failures ?? []), ...failuresOf(entry)].slice(-MOST_FAILURES);
  const by = joinNames(summary.by, entry.by);
  const sizes = joinSizes(summary.sizes, entry.sizes);
  return {
    ...summary,
    counts: joinCounts(summary.counts, countsOf(entry)),
    ...(by !== undefined && { by }),
    ...(sizes && { sizes }),
    ...(failures.length > 0 && { failures }),
  };
}

function countsOf({ counts = {}, kind, result, revision }: RecordEntry): RecordCounts {
  if (kind === 'summary') return counts;
  return {
    ...counts,
    ...(kind === 'change' && revision !== undefined && { changes: 1 }),
    ...(kind === 'scaled' && { scaled: 1 }),
    ...(result !== undefined && { [result]: 1 }),
  };
}

const COUNTED = ['changes', 'complete', 'failed', 'scaled', 'steps'] as const;

function joinCounts(a: RecordCounts = {}, b: RecordCounts = {}): RecordCounts {
  const sums = COUNTED.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)] as const);
  return Object.fromEntries(sums.filter(([, sum]) => sum > 0));
}

function failuresOf({ failures, result, revision, why }: RecordEntry): readonly string[] {
  if (failures) return failures;
  if (result !== 'failed') return [];
  return [`revision ${revision ?? '?'} failed${why === undefined ? '' : `: ${why}`}`];
}

function joinNames(a: string | undefined, b: string | undefined): string | undefined {
  const names = new Set([a, b].flatMap((text) => text?.split(', ') ?? []));
  return names.size === 0 ? undefined : [...names].slice(0, MOST_NAMES).join(', ');
}

function joinSizes(a: RecordSizes | undefined, b: RecordSizes | undefined): RecordSizes | undefined {
  const all = [a, b].flatMap((sizes) => {
    if (!sizes) return [];
    return 'from' in sizes ? [sizes.from, sizes.to] : [sizes.least, sizes.most];
  });
  return all.length === 0 ? undefined : { least: Math.min(...all), most: Math.max(...all) };
}

function short(text: string): string {
  return shortenedTo(SHORT_TEXT, text);
}
