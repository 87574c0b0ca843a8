import type { DeepReadonly, Pod, PodTemplateSpec } from '../../base/kubernetes/index.js';
import { cloneJson } from '../../base/kubernetes/index.js';
import type { PersistentVolumeClaim, StatefulSet } from '../../kit/index.js';
import { PersistentVolumeClaim as CLAIM, typeMeta } from '../../kit/index.js';
import { podFromTemplate } from '../shared/index.js';

export type ReadableSet = DeepReadonly<StatefulSet>;
export type ReadablePod = DeepReadonly<Pod>;

/** Label of a pod: the revision that it was made by. */
export const REVISION_LABEL = 'controller-revision-hash';
const NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const INDEX_LABEL = 'apps.kubernetes.io/pod-index';

export function podName({ metadata }: ReadableSet, ordinal: number): string {
  return `${metadata.name}-${ordinal}`;
}

/** The number at the end of a name that the set gives; undefined for other names. */
export function ordinalOf(
  { metadata: set }: ReadableSet,
  { metadata: pod }: ReadablePod,
): number | undefined {
  const text = pod.name.startsWith(`${set.name}-`) ? pod.name.slice(set.name.length + 1) : '';
  return /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : undefined;
}

export function revisionOf({ metadata }: ReadablePod): string | undefined {
  return metadata.labels?.[REVISION_LABEL];
}

export interface NewReplica {
  readonly set: ReadableSet;
  readonly ordinal: number;
  /** That of the revision. */
  readonly template: DeepReadonly<PodTemplateSpec>;
  readonly revision: string;
}

/** A pod with the name, the host name and the storage that belong to its ordinal. */
export function replicaPod({ ordinal, revision, set, template }: NewReplica): Pod {
  const name = podName(set, ordinal);
  const pod = podFromTemplate({ owner: set, template, name });
  const identity = { [NAME_LABEL]: name, [INDEX_LABEL]: String(ordinal), [REVISION_LABEL]: revision };
  pod.metadata.labels = { ...pod.metadata.labels, ...identity };
  pod.spec.hostname = name;
  if (set.spec.serviceName) pod.spec.subdomain = set.spec.serviceName;
  const claims = claimTemplates(set);
  const own = new Set(claims.map((template) => template.metadata.name));
  pod.spec.volumes = [
    ...claims.map(({ metadata }) => ({
      name: metadata.name,
      persistentVolumeClaim: { claimName: claimName(set, metadata.name, ordinal), readOnly: false },
    })),
    ...(pod.spec.volumes ?? []).filter((volume) => !own.has(volume.name)),
  ];
  return pod;
}

/** The claims that a replica of this ordinal must have. */
export function replicaClaims(set: ReadableSet, ordinal: number): readonly PersistentVolumeClaim[] {
  return claimTemplates(set).map(({ metadata, spec }) => ({
    ...(typeMeta(CLAIM) as Pick<PersistentVolumeClaim, 'apiVersion' | 'kind'>),
    metadata: {
      name: claimName(set, metadata.name, ordinal),
      namespace: set.metadata.namespace,
      labels: { ...metadata.labels, ...set.spec.selector.matchLabels },
      ...(metadata.annotations && { annotations: metadata.annotations }),
    },
    spec,
  }));
}

function claimTemplates({ spec }: ReadableSet): PersistentVolumeClaim[] {
  return cloneJson(spec.volumeClaimTemplates ?? []) as unknown as PersistentVolumeClaim[];
}

function claimName({ metadata }: ReadableSet, template: string, ordinal: number): string {
  return `${template}-${metadata.name}-${ordinal}`;
}
