import type { DeepReadonly, Pod, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { cloneJson } from '@rollkeeper/machinery/kubernetes';
import type { PersistentVolumeClaim, StatefulSet } from '@rollkeeper/runtime';
import { PersistentVolumeClaim as CLAIM, typeMeta } from '@rollkeeper/runtime';
import { REVISION_LABEL, podFromTemplate, podNamePrefix } from '../shared/index.js';

export type ReadableSet = DeepReadonly<StatefulSet>;
export type ReadablePod = DeepReadonly<Pod>;

const NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const INDEX_LABEL = 'apps.kubernetes.io/pod-index';

/** Ordinals are int32. */
const MAX_ORDINAL = 2 ** 31 - 1;

export function podName({ metadata }: ReadableSet, ordinal: number): string {
  return `${metadata.name}-${ordinal}`;
}

/** Whether the set could have generated the pod's name: its own, and digits. */
export function isMember({ metadata: set }: ReadableSet, { metadata: pod }: ReadablePod): boolean {
  return pod.name.startsWith(`${set.name}-`) && /^\d+$/.test(pod.name.slice(set.name.length + 1));
}

/**
 * The number at the end of a pod's name; `db-07` has the ordinal 7 as well. Undefined if there is none, or it exceeds
 * int32.
 */
export function ordinalOfName(name: string): number | undefined {
  const ordinal = Number(/-(\d+)$/.exec(name)?.[1] ?? NaN);
  return ordinal <= MAX_ORDINAL ? ordinal : undefined;
}

/** Whether a replica with this ordinal is wanted. */
export function isWanted({ spec }: ReadableSet, ordinal: number | undefined): boolean {
  const first = spec.ordinals?.start ?? 0;
  return ordinal !== undefined && ordinal >= first && ordinal < first + (spec.replicas ?? 1);
}

export function revisionOf({ metadata }: ReadablePod): string | undefined {
  return metadata.labels?.[REVISION_LABEL];
}

interface NewReplica {
  readonly set: ReadableSet;
  readonly ordinal: number;
  /** The template of the revision. */
  readonly template: DeepReadonly<PodTemplateSpec>;
  readonly revision: string;
}

/** A pod with the name, host name and storage of its ordinal. */
export function replicaPod({ ordinal, revision, set, template }: NewReplica): Pod {
  const name = podName(set, ordinal);
  const generateName = podNamePrefix(set.metadata.name);
  const pod = podFromTemplate({ owner: set, template, name, generateName });
  const identity = { ...identityLabels(name, ordinal), [REVISION_LABEL]: revision };
  pod.metadata.labels = { ...pod.metadata.labels, ...identity };
  pod.spec.hostname = name;
  if (set.spec.serviceName) pod.spec.subdomain = set.spec.serviceName;
  const volumes = claimVolumes(set, ordinal);
  const own = new Set(volumes.map((volume) => volume.name));
  pod.spec.volumes = [...volumes, ...(pod.spec.volumes ?? []).filter((volume) => !own.has(volume.name))];
  return pod;
}

/** Corrections of an existing pod's identity. */
interface Correction {
  /** Labels that are missing, or belong to another name. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Volumes of the claims that the pod has not mounted. */
  readonly volumes?: readonly ClaimVolume[];
}

/**
 * Undefined if nothing is wrong. The index label is set together with the name's, and alone it is no reason to write.
 * Source: `identityMatches` and `storageMatches` in k/k pkg/controller/statefulset.
 */
export function decideCorrection(
  set: ReadableSet,
  pod: ReadablePod,
  ordinal: number,
): Correction | undefined {
  const { labels, name } = pod.metadata;
  const hasIdentity = labels?.[NAME_LABEL] === name;
  const missing = claimVolumes(set, ordinal).filter(
    (wanted) =>
      !pod.spec.volumes?.some(
        (volume) =>
          volume.name === wanted.name &&
          volume.persistentVolumeClaim?.claimName === wanted.persistentVolumeClaim.claimName,
      ),
  );
  if (hasIdentity && missing.length === 0) return undefined;
  return {
    ...(!hasIdentity && { labels: identityLabels(name, ordinal) }),
    ...(missing.length > 0 && { volumes: missing }),
  };
}

function identityLabels(name: string, ordinal: number): Record<string, string> {
  return { [NAME_LABEL]: name, [INDEX_LABEL]: String(ordinal) };
}

interface ClaimVolume {
  readonly name: string;
  readonly persistentVolumeClaim: { readonly claimName: string };
}

function claimVolumes(set: ReadableSet, ordinal: number): ClaimVolume[] {
  return claimTemplates(set).map(({ metadata: { name } }) => ({
    name,
    persistentVolumeClaim: { claimName: claimName(set, name, ordinal) },
  }));
}

/** The required claims of a replica with this ordinal. */
export function replicaClaims(set: ReadableSet, ordinal: number): readonly PersistentVolumeClaim[] {
  return claimTemplates(set).map(({ metadata, spec }) => ({
    ...typeMeta(CLAIM),
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
  return cloneJson(spec.volumeClaimTemplates ?? []) as PersistentVolumeClaim[];
}

function claimName({ metadata }: ReadableSet, template: string, ordinal: number): string {
  return `${template}-${metadata.name}-${ordinal}`;
}
