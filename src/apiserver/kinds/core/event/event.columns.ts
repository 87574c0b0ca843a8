import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type { Event } from '@rollkeeper/machinery/types/core-v1';
import { column, wideColumn } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';

export const EVENT_COLUMNS: readonly TableColumn[] = [
  column('Last Seen'),
  column('Type'),
  column('Reason'),
  column('Object'),
  wideColumn('Subobject'),
  wideColumn('Source'),
  column('Message'),
  wideColumn('First Seen'),
  wideColumn('Count'),
  { ...wideColumn('Name'), format: 'name' },
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
