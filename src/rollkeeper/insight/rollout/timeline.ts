import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import type { RecordEntry, RecordKind } from '@rollkeeper/controllers/deployment';
import { meansOfRevision, sumOfExperiment, wordsOf } from '@rollkeeper/controllers/deployment';
import type { ObjectEvent } from '../object-event.js';
import { eventTimes } from '../object-event.js';
import type { Style } from '../../terminal/index.js';
import { renderTable } from '../../terminal/index.js';
import type { PastExperiment } from './experiment-history.js';
import type { RevisionReport } from './rollout-history.js';

/** Something that happened to a Deployment, or the sum of what happened in a time. */
export interface TimelineEntry extends Omit<RecordEntry, 'kind' | 'what'> {
  readonly kind: RecordKind | 'event';
  /** In words, for people. */
  readonly what: string;
}

interface TimelineInput {
  readonly deployment: DeepReadonly<Deployment>;
  readonly history: readonly RevisionReport[];
  /** The Events of the Deployment and its ReplicaSets; the API keeps them for an hour. */
  readonly events: readonly ObjectEvent[];
}

/** The requests, by whom, when, and how they ended: oldest first. */
export function decideTimeline({ deployment, events, history }: TimelineInput): readonly TimelineEntry[] {
  const entries = [
    ...beginningOf(deployment),
    ...history.flatMap(entriesOf),
    ...events.flatMap(entryOfEvent),
  ];
  return entries.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function beginningOf({
  kind: word = 'Deployment',
  metadata,
}: DeepReadonly<Deployment>): readonly TimelineEntry[] {
  const { creationTimestamp: at, name } = metadata;
  return at === undefined ? [] : [{ at, kind: 'created', what: `${word} ${name} was created` }];
}

function entriesOf(report: RevisionReport): readonly TimelineEntry[] {
  const { approvals, endedAt, experiments, goodSince, startedAt } = report;
  const revision = String(report.revision);
  return [
    ...(startedAt === undefined ? [] : [askedEntry(report, startedAt)]),
    ...approvals.map(({ at, by, step }) =>
      timelineEntry({ ...{ at, kind: 'approved', revision, by }, what: `step ${step}` }),
    ),
    ...(endedAt === undefined ? [] : [endEntry(report, endedAt)]),
    ...(goodSince === undefined ? [] : [timelineEntry({ at: goodSince, kind: 'good', revision })]),
    ...experiments.flatMap((each) => experimentEntry(each, revision)),
  ];
}

/** Once, for the first of its revisions. */
function experimentEntry(past: PastExperiment, of: string): readonly TimelineEntry[] {
  const { ended, revisions, tookMs, verdict, why } = past;
  const [revision] = revisions;
  if (ended === undefined || verdict === 'under way' || revision !== of) return [];
  return [
    timelineEntry({
      ...{ at: ended, kind: 'experiment', revision, what: sumOfExperiment({ ...past, verdict }) },
      ...(tookMs !== undefined && { tookMs }),
      ...(why !== undefined && { why }),
    }),
  ];
}

/** A recorded entry, in words. */
export function timelineEntry(entry: RecordEntry): TimelineEntry {
  return { ...entry, what: wordsOf(entry) };
}

const ASKED: Readonly<Record<string, string>> = {
  change: 'a new template',
  restart: 'a restart',
  undo: 'a way back',
  rollback: 'a way back, by itself',
  retry: 'another try',
  configuration: 'a restart for its configuration',
};

function askedEntry(report: RevisionReport, at: string): TimelineEntry {
  const { images, revision, tool, trigger, what, who, why } = report;
  const said = [
    trigger === undefined ? `rollout of ${images.join(', ')}` : (ASKED[trigger] ?? trigger),
    ...(what === undefined ? [] : [what]),
    ...(why === undefined ? [] : [`because: ${why}`]),
  ];
  const means = meansOfRevision(trigger, tool);
  return {
    ...{ at, kind: 'asked', revision: String(revision), what: said.join('; ') },
    ...(means !== undefined && { means }),
    ...(why !== undefined && { why }),
    ...(who !== undefined && { by: who }),
    ...(tool !== undefined && { with: tool }),
  };
}

function endEntry({ cause, result, revision, tookMs }: RevisionReport, at: string): TimelineEntry {
  const hasFailed = result === 'failed';
  return timelineEntry({
    ...{ at, revision: String(revision), kind: hasFailed ? 'failed' : 'ended' },
    result: hasFailed ? 'failed' : 'complete',
    ...(tookMs !== undefined && { tookMs }),
    ...(hasFailed && cause !== undefined && { why: cause }),
  });
}

function entryOfEvent(event: ObjectEvent): readonly TimelineEntry[] {
  const { last: at } = eventTimes(event);
  if (at === undefined) return [];
  const times = event.series?.count ?? event.count ?? 1;
  const component = event.reportingComponent || event.source?.component;
  return [
    {
      ...{ at, kind: 'event' },
      ...(component !== undefined && component !== '' && { with: component }),
      what: `${event.reason ?? 'Event'}: ${event.message ?? ''}${times > 1 ? ` (${times} times)` : ''}`,
    },
  ];
}

/** A line each. */
export function renderTimeline(entries: readonly TimelineEntry[], style: Style): string {
  if (entries.length === 0) return 'nothing is known of it';
  const colour = (kind: TimelineEntry['kind']): ((text: string) => string) => {
    if (kind === 'failed') return style.bad;
    if (kind === 'event') return style.faint;
    return kind === 'ended' || kind === 'good' ? style.good : (text) => text;
  };
  return renderTable([
    ['TIME', 'REVISION', 'WHAT', 'BY', 'WITH', 'DETAILS'],
    ...entries.map(({ at, by, kind, means, revision, what, with: tool }) => [
      ...[at, revision ?? '', colour(kind)(kind), by ?? '', renderMeans(tool, means)],
      what.replaceAll(/\s+/g, ' '),
    ]),
  ]);
}

/** `kubectl (kubectl-scale)`; that a person used a tool goes without saying. */
function renderMeans(tool: string | undefined, means: TimelineEntry['means']): string {
  return [tool, ...(means === undefined || means === 'user' ? [] : [`(${means})`])].join(' ').trim();
}
