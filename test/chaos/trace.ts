import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deployment, Pod, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import type { JournalLine } from './checkers/journal-line.js';
import { isReadyPod } from './checkers/store-replay.js';
import type { Violation } from './checkers/violation.js';
import type { HistoryEvent } from './history.js';

/**
 * Writes the records of a round for readers of its violations: one file `violation-<n>.txt` for each subject.
 * @param first the first n
 * @returns how many
 */
export function writeTraces(
  folder: string,
  violations: readonly Violation[],
  history: readonly HistoryEvent[],
  journal: readonly JournalLine[],
  first = 1,
): number {
  const subjects = new Set(violations.map(({ subject }) => subject));
  for (const [index, subject] of [...subjects].entries())
    writeTrace(join(folder, `violation-${first + index}.txt`), subject, history, journal);
  return subjects.size;
}

/** Everything that was recorded about one Deployment. */
function writeTrace(
  file: string,
  subject: string,
  history: readonly HistoryEvent[],
  journal: readonly JournalLine[],
): void {
  const name = /(?:load|probe)-\d+/.exec(subject)?.[0];
  if (name === undefined) return;
  const isOurs = (text: string): boolean => text === name || text.startsWith(`${name}-`);
  // Both clocks are CLOCK_MONOTONIC, counted from different moments.
  const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  const lines = [
    ...history
      .filter(({ object }) => isOurs(object.metadata.name))
      .map((event) => ({ at: event.seenAtMs + offsetMs, text: describe(event) })),
    ...journal
      .filter((line) => 'k' in line && isOurs(line.k.split('/').at(-1) ?? ''))
      .map((line) => ({ at: line.t, text: `        ${JSON.stringify({ ...line, t: undefined })}` })),
  ];
  const sorted = lines.sort((a, b) => a.at - b.at);
  writeFileSync(file, sorted.map(({ at, text }) => `${at.toFixed(1)} ${text}`).join('\n'));
}

function describe({ deleted, kind, object, resourceVersion }: HistoryEvent): string {
  const verb = deleted ? 'deleted' : object.metadata.deletionTimestamp ? 'ending' : 'is';
  return `${resourceVersion} ${kind} ${object.metadata.name} ${verb} ${detailsOf(kind, object)}`;
}

function detailsOf(kind: HistoryEvent['kind'], object: HistoryEvent['object']): string {
  if (kind === 'Pod') {
    const pod = object as Pod;
    return `${pod.status?.phase ?? ''} ${isReadyPod(pod) ? 'ready' : 'not ready'}`;
  }
  if (kind !== 'Deployment' && kind !== 'ReplicaSet') return '';
  const { spec, status } = object as Deployment | ReplicaSet;
  const { availableReplicas, readyReplicas, replicas } = status ?? {};
  const strategy = 'strategy' in spec ? JSON.stringify(spec.strategy?.rollingUpdate) : '';
  return `spec ${spec.replicas} status ${JSON.stringify({ replicas, readyReplicas, availableReplicas })} ${strategy}`;
}
