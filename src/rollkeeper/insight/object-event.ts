import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';

/** The fields of a core Event that matter here. */
export interface ObjectEvent extends KubernetesObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string;
  readonly lastTimestamp?: string;
  readonly eventTime?: string;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly uid?: string };
}

/** When it was first and last seen, RFC 3339; a field is absent where the Event does not say. Old and new recorders fill different fields. */
export function eventTimes({
  eventTime,
  firstTimestamp,
  lastTimestamp,
  metadata,
  series,
}: DeepReadonly<ObjectEvent>): { readonly first?: string; readonly last?: string } {
  const first = firstTimestamp ?? eventTime ?? metadata.creationTimestamp;
  const last = series?.lastObservedTime ?? lastTimestamp ?? first;
  return { ...(first && { first }), ...(last && { last }) };
}
