import { parseInt64 } from '@rollkeeper/machinery/kubernetes';
import { TRACE_ANNOTATION } from '@rollkeeper/machinery/trace-context';
import { MAX_INT32 } from './int32.js';

/** Number of the rollout, on a ReplicaSet and the Deployment; shown by `kubectl rollout history`. */
export const REVISION = 'deployment.kubernetes.io/revision';
/** The earlier revisions of a ReplicaSet, comma separated. */
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
/**
 * `spec.replicas` of the Deployment when the ReplicaSet was last sized; a difference means that the Deployment was
 * scaled.
 */
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
/** `spec.replicas + maxSurge` at that time: the total of which the ReplicaSet's size is a proportion. */
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
/** Requests a rollback; 0 means the previous revision. Successor of `spec.rollbackTo` in `extensions/v1beta1`. */
export const ROLLBACK_TO = 'deprecated.deployment.rollback.to';
/** Why a revision was made, in a person's words; shown by `kubectl rollout history`. */
export const CHANGE_CAUSE = 'kubernetes.io/change-cause';
/** On a pod template, set by `kubectl rollout restart`. */
export const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** In addition to Kubernetes' own: the trace of an object's last write belongs to that object only. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  LAST_APPLIED,
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  ROLLBACK_TO,
  TRACE_ANNOTATION,
]);

export type Annotations = Readonly<Record<string, string>>;

/** How annotations other than Kubernetes' own go between a Deployment and its ReplicaSets. */
export interface AnnotationRules {
  /** Names that belong to the object that they are on, and are never copied. */
  readonly uncopied: ReadonlySet<string>;
  /** Names that a new ReplicaSet loses when its Deployment has lost them. Kubernetes leaves those that it copied before. */
  readonly mirrored: ReadonlySet<string>;
  /** A rollback leaves the names with this prefix as they are. @default it restores them as well */
  readonly keptPrefix?: string;
}

/** Annotations go as in Kubernetes. */
export const NO_ANNOTATION_RULES: AnnotationRules = { uncopied: new Set(), mirrored: new Set() };

/** Whether an annotation belongs to one object, and is not copied from a Deployment to its new ReplicaSet. */
export function isOwnAnnotation(name: string, { uncopied }: AnnotationRules): boolean {
  return NOT_COPIED.has(name) || uncopied.has(name);
}

/** The int64 in an annotation: `undefined` if missing or invalid, which Kubernetes treats alike. */
export function int64Annotation(annotations: Annotations | undefined, name: string): bigint | undefined {
  return parseInt64(annotations?.[name] ?? '');
}

/**
 * The size in an annotation; `undefined` if it is not a valid size: not only decimal digits, or beyond int32.
 * Kubernetes treats that as absent.
 */
export function sizeAnnotation(annotations: Annotations | undefined, name: string): number | undefined {
  const text = annotations?.[name] ?? '';
  if (!/^\d+$/.test(text)) return undefined;
  const size = Number(text);
  return size > MAX_INT32 ? undefined : size;
}
