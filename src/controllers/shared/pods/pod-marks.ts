import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import {
  checkLabelValue,
  checkQualifiedName,
  isJsonObject,
  isPodActive,
  stringifyJson,
} from '@rollkeeper/machinery/kubernetes';
import { isShortText, readJson } from '../read-json.js';

type ReadablePod = DeepReadonly<Pod>;
/** Values by key; null: the template's value, or none. */
type Marks = Readonly<Record<string, string | null>>;

/**
 * On a ReplicaSet: labels and annotations that its pods have beside those of the template, kept up to date by the Deployment
 * controller. They are no part of the template, so that a change of them starts no pod.
 */
export const POD_MARKS = 'rollkeeper.dev/pod-marks';

/** Labels and annotations of pods that are no part of their template. */
export interface PodMarks {
  readonly labels: Marks;
  readonly annotations: Marks;
}

export const NO_MARKS: PodMarks = { labels: {}, annotations: {} };

export function renderPodMarks(marks: PodMarks): string {
  return stringifyJson(marks);
}

/** The marks noted on a ReplicaSet. What cannot be read counts as none, and a label of the selector is never one. */
export function readPodMarks({
  metadata,
  spec,
}: Pick<DeepReadonly<ReplicaSet>, 'metadata'> & {
  readonly spec?: DeepReadonly<ReplicaSet>['spec'];
}): PodMarks {
  const read = readJson(metadata.annotations?.[POD_MARKS]);
  if (!isJsonObject(read)) return NO_MARKS;
  const { annotations, labels } = read;
  const selecting = selectorKeys(spec?.selector);
  const isLabel = (key: string, value: string | null): boolean =>
    !selecting.has(key) && checkLabelValue(value ?? '').length === 0;
  return {
    labels: marksIn(labels, isLabel),
    annotations: marksIn(annotations, (_key, value) => isShortText(value ?? '')),
  };
}

/** The labels that a selector looks at: without them its pods would not be its own any more. */
export function selectorKeys(
  selector: DeepReadonly<ReplicaSet>['spec']['selector'] | undefined,
): ReadonlySet<string> {
  const expressions = selector?.matchExpressions ?? [];
  return new Set([...Object.keys(selector?.matchLabels ?? {}), ...expressions.map(({ key }) => key)]);
}

/** A new pod with its marks. */
export function withMarks(pod: Pod, { annotations, labels }: PodMarks): Pod {
  const marked = { ...pod.metadata.labels, ...given(labels) };
  const noted = { ...pod.metadata.annotations, ...given(annotations) };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(Object.keys(marked).length > 0 && { labels: marked }),
      ...(Object.keys(noted).length > 0 && { annotations: noted }),
    },
  };
}

/** A pod whose labels or annotations are to change. */
export interface MarkedPod {
  readonly name: string;
  /** A merge patch, which applies to this pod only, and to no other of its name. */
  readonly patch: {
    readonly metadata: { readonly uid?: string; readonly labels?: Marks; readonly annotations?: Marks };
  };
}

/** The active pods of a ReplicaSet that do not have its marks yet. */
export function decideMarks(
  replicaSet: DeepReadonly<ReplicaSet>,
  pods: readonly ReadablePod[],
): readonly MarkedPod[] {
  const marks = readPodMarks(replicaSet);
  const template = replicaSet.spec.template?.metadata;
  return pods.filter(isPodActive).flatMap((pod): MarkedPod[] => {
    const labels = differing(marks.labels, pod.metadata.labels, template?.labels);
    const annotations = differing(marks.annotations, pod.metadata.annotations, template?.annotations);
    if (!labels && !annotations) return [];
    const { name, uid } = pod.metadata;
    return [
      { name, patch: { metadata: { uid, ...(labels && { labels }), ...(annotations && { annotations }) } } },
    ];
  });
}

function differing(
  marks: Marks,
  current: Readonly<Record<string, string>> | undefined,
  template: Readonly<Record<string, string>> | undefined,
): Marks | undefined {
  const changes = Object.entries(marks)
    .map(([key, value]) => [key, value ?? template?.[key] ?? null] as const)
    .filter(([key, value]) => (current?.[key] ?? null) !== value);
  return changes.length > 0 ? Object.fromEntries(changes) : undefined;
}

function marksIn(value: unknown, isValid: (key: string, value: string | null) => boolean): Marks {
  if (!isJsonObject(value)) return {};
  const known = Object.entries(value).flatMap(([key, each]): [string, string | null][] =>
    each === null || typeof each === 'string' ? [[key, each]] : [],
  );
  return Object.fromEntries(
    known.filter(([key, each]) => checkQualifiedName(key).length === 0 && isValid(key, each)),
  );
}

function given(marks: Marks): Record<string, string> {
  return Object.fromEntries(
    Object.entries(marks).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  );
}
