import type { EventNote, EventRecorder, Informer, Lister, ResourceEvent } from '@rollkeeper/runtime';
import { NAMESPACE_INDEX, SELECTOR_INDEX, selectorIndex, selectorIndexValuesFor } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { isEmptySelector, sameJson, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { Selecting } from './selector-index.js';
import { TEMPLATE_INDEX } from './selector-index.js';

type Readable = DeepReadonly<Selecting>;

/** Limit of rivals named in one Event, and of rivals notified of a new object; more are counted. */
const MOST_TOLD = 3;

/**
 * Whether both match the same pods: the selector of one matches the template of the other. An object that selects
 * everything, or whose selector is invalid, is ignored, and so does not overlap.
 */
export function selectorsOverlap(one: Readable, other: Readable): boolean {
  return isAnother(one, other) && (selectsTemplate(one, other) || selectsTemplate(other, one));
}

/**
 * Objects that match the same pods as `object`; the cost depends on them and those with a label in common, not on the
 * namespace.
 * @param lister with {@link SELECTOR_INDEX} and {@link TEMPLATE_INDEX}
 */
export function findRivals<T extends Selecting>(
  object: DeepReadonly<T>,
  lister: Lister<T>,
): readonly DeepReadonly<T>[] {
  const { spec, metadata } = object;
  const { namespace } = metadata;
  const labels = spec.template?.metadata?.labels;
  const selecting = selectorIndexValuesFor({ ...object, metadata: { ...metadata, labels } });
  const hasLabels = Object.keys(spec.selector?.matchLabels ?? {}).length > 0;
  const candidates = [
    ...selecting.flatMap((value) => lister.byIndex(SELECTOR_INDEX, value)),
    ...(hasLabels
      ? selectorIndex(object).flatMap((value) => lister.byIndex(TEMPLATE_INDEX, value))
      : lister.byIndex(NAMESPACE_INDEX, namespace ?? '')),
  ];
  return [...new Set(candidates)].filter((other) => selectorsOverlap(object, other));
}

interface SelectorOverlapOptions<T extends Selecting> {
  readonly informer: Pick<Informer<T>, 'addEventHandler' | 'lister'>;
  /** The same kind in other APIs, which takes pods by the same rules; indexed like the informer's. @default none */
  readonly others?: readonly Lister<T>[];
  readonly events: EventRecorder;
  /** Whether an overlap of these two is worth reporting. @default always */
  readonly concerns?: (one: DeepReadonly<T>, other: DeepReadonly<T>) => boolean;
}

/**
 * Reports overlapping selectors by a Warning Event on the objects; on the leader only. Only changes that affect the
 * result report it: a new object, a changed selector or template labels, and a new leader once. There is no fight,
 * because each keeps to what it controls; but either adopts what the other has lost.
 * @returns the unsubscribe
 */
export function watchSelectorOverlaps<T extends Selecting>(options: SelectorOverlapOptions<T>): () => void {
  const { concerns = () => true, events, informer, others = [] } = options;
  const listers = [informer.lister, ...others];
  return informer.addEventHandler((event) => {
    if (!mayChangeOverlaps(event)) return;
    const { object } = event;
    const rivals = listers
      .flatMap((lister) => findRivals(object, lister))
      .filter((rival) => concerns(object, rival));
    if (rivals.length === 0) return;
    events.record(object, overlapNote(object, rivals));
    // On the first list each of them has its own turn.
    if (event.type === 'added' && event.initial) return;
    for (const rival of rivals.slice(0, MOST_TOLD)) events.record(rival, overlapNote(rival, [object]));
  });
}

function mayChangeOverlaps<T extends Selecting>(event: ResourceEvent<T>): boolean {
  if (event.type === 'deleted' || event.object.metadata.deletionTimestamp !== undefined) return false;
  if (event.type === 'added') return true;
  const [old, now] = [event.old, event.object];
  return (
    !sameJson(old.spec.selector, now.spec.selector) ||
    !sameJson(old.spec.template?.metadata?.labels, now.spec.template?.metadata?.labels)
  );
}

/** Kubernetes' reason from the time when its controllers still checked this (1.5). */
function overlapNote(object: Readable, rivals: readonly Readable[]): EventNote {
  const names = rivals
    .map(({ apiVersion, kind, metadata }) => {
      const api = apiVersion === object.apiVersion ? '' : ` of ${apiVersion}`;
      return `${kind} "${metadata.name}"${api}`;
    })
    .sort();
  const told = names.slice(0, MOST_TOLD).join(', ');
  const others = names.length > MOST_TOLD ? ` and ${names.length - MOST_TOLD} more` : '';
  return {
    type: 'Warning',
    reason: 'SelectorOverlap',
    message: `Its selector takes the same pods as that of ${told}${others}. Give each labels of its own: until then either adopts what the other has lost.`,
  };
}

function isAnother(one: Readable, other: Readable): boolean {
  const isLiving = ({ metadata }: Readable): boolean => metadata.deletionTimestamp === undefined;
  return one.metadata.uid !== other.metadata.uid && isLiving(one) && isLiving(other);
}

function selectsTemplate({ spec: { selector } }: Readable, other: Readable): boolean {
  if (isEmptySelector(selector)) return false;
  return tryCompileLabelSelector(selector)?.(other.spec.template?.metadata?.labels) ?? false;
}
