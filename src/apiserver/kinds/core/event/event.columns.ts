import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type { Event } from '@rollkeeper/machinery/types/core-v1';
import { column, wideColumn } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';

export const EVENT_COLUMNS: readonly TableColumn[] = [
  column('Last Seen', 'Time since it last happened.'),
  column('Type', 'Normal or Warning.'),
  column('Reason', 'Why it happened, in one word.'),
  column('Object', 'What it is about.'),
  wideColumn('Subobject', 'The part of the object that it is about.'),
  wideColumn('Source', 'Who reported it.'),
  column('Message', 'What happened.'),
  wideColumn('First Seen', 'Time since it first happened.'),
  wideColumn('Count', 'How often it happened.'),
  { ...wideColumn('Name', 'Name of the event.'), format: 'name' },
];

/** Source: printEvent in pkg/printers/internalversion/printers.go. */
export function eventRow(event: DecodedObject<Event>, nowMs: number): TableCell[] {
  const about = event.involvedObject;
  const kind = (about?.kind ?? '').toLowerCase();
  const first = event.firstTimestamp ?? event.eventTime;
  const last = event.series?.lastObservedTime ?? event.lastTimestamp ?? first;
  return [
    ageSince(last, nowMs),
    event.type ?? '',
    event.reason ?? '',
    about?.name ? `${kind}/${about.name}` : kind,
    about?.fieldPath ?? '',
    sourceOf(event),
    (event.message ?? '').trim(),
    ageSince(first, nowMs),
    event.series ? (event.series.count ?? 0) : event.count || 1,
    event.metadata.name,
  ];
}

function sourceOf(event: DecodedObject<Event>): string {
  const component = event.source?.component || event.reportingComponent || '';
  const instance = event.source?.host || event.reportingInstance || '';
  return instance === '' ? component : `${component}, ${instance}`;
}
