import type { ConfigMap } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { readJson } from '../../shared/index.js';
import type { RecordEntry } from './record-entry.js';
import { RECORD_KINDS, byTime } from './record-entry.js';

/** From the finest to the coarsest: older entries go from one to the next. */
const LEVELS = ['recent', 'changes', 'hours', 'days'] as const;
export type Level = (typeof LEVELS)[number];

/** The state that earlier looks have recorded, so that each fact is recorded once. */
export interface RecordState {
  /** The generation of the Deployment when it was last looked at. */
  readonly generation?: number;
  /** The size that was asked for. Absent: nothing was recorded yet. */
  readonly replicas?: number;
  readonly paused?: boolean;
  /** Keys of the facts that were recorded, oldest first; bounded. */
  readonly seen: readonly string[];
  /** The number of the last recorded size step of each ReplicaSet, by UID. */
  readonly steps: Readonly<Record<string, number>>;
}

/** The kept history of one Deployment. Each level is oldest first. */
export type DeploymentRecord = Readonly<Record<Level, readonly RecordEntry[]>> & {
  readonly state: RecordState;
};

export const EMPTY_RECORD: DeploymentRecord = {
  ...{ recent: [], changes: [], hours: [], days: [] },
  state: { seen: [], steps: {} },
};

/** The name of the ConfigMap that has the record of a Deployment, by its UID: a recreated Deployment has a history of its own. */
export function recordNameOf(uid: string): string {
  return `rollkeeper-history-${uid}`;
}

/** All entries, oldest first. */
export function entriesOf(record: DeploymentRecord): readonly RecordEntry[] {
  return [...record.days, ...record.hours, ...record.changes, ...record.recent].toSorted(byTime);
}

/** The record in a ConfigMap. Lines that cannot be read are left out: another hand wrote them. */
export function readRecord(configMap: DeepReadonly<Pick<ConfigMap, 'data'>> | undefined): DeploymentRecord {
  const data = configMap?.data;
  if (!data) return EMPTY_RECORD;
  const [recent = [], changes = [], hours = [], days = []] = LEVELS.map((level) => linesOf(data[level]));
  return { recent, changes, hours, days, state: stateOf(data['state']) };
}

/** The same as the data of a ConfigMap: one line of JSON per entry. */
export function renderRecord(record: DeploymentRecord): Record<string, string> {
  const levels = LEVELS.filter((level) => record[level].length > 0);
  return {
    state: stringifyJson(record.state),
    ...Object.fromEntries(levels.map((level) => [level, renderLines(record[level])])),
  };
}

/** One line per entry. */
export function renderLines(entries: readonly RecordEntry[]): string {
  return entries.map((entry) => `${stringifyJson(entry)}\n`).join('');
}

function linesOf(text = ''): readonly RecordEntry[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(readJson)
    .filter(isEntry);
}

function stateOf(text: string | undefined): RecordState {
  const read = readJson(text);
  if (!isJsonObject(read)) return EMPTY_RECORD.state;
  const { generation, paused, replicas, seen, steps } = read;
  return {
    ...(typeof generation === 'number' && { generation }),
    ...(typeof replicas === 'number' && { replicas }),
    ...(typeof paused === 'boolean' && { paused }),
    seen: Array.isArray(seen) ? seen.filter((key) => typeof key === 'string') : [],
    steps: isJsonObject(steps)
      ? Object.fromEntries(
          Object.entries(steps).filter((step): step is [string, number] => typeof step[1] === 'number'),
        )
      : {},
  };
}

function isEntry(value: unknown): value is RecordEntry {
  if (!isJsonObject(value)) return false;
  const { at, kind } = value;
  return (
    typeof at === 'string' && !Number.isNaN(Date.parse(at)) && RECORD_KINDS.some((known) => known === kind)
  );
}
