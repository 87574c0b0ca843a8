import { parseInt64 } from '@rollkeeper/machinery/kubernetes';
import { TRACE_ANNOTATION } from '@rollkeeper/machinery/trace-context';
import { MAX_INT32 } from './int32.js';
import { isUncopied } from './policies/names.js';

/** Marks a ReplicaSet, and the Deployment, with the number of the rollout; what `kubectl rollout history` shows. */
export const REVISION = 'deployment.kubernetes.io/revision';
/** The earlier revisions that a ReplicaSet served, comma separated. */
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
/** `spec.replicas` of the Deployment when the ReplicaSet was last sized; a difference means that it was scaled. */
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
/** `spec.replicas + maxSurge` at that time: the whole of which the ReplicaSet's size is a proportion. */
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
/** Asks for a rollback; 0 means the previous revision. What `extensions/v1beta1`'s `spec.rollbackTo` became. */
export const ROLLBACK_TO = 'deprecated.deployment.rollback.to';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Besides Kubernetes' own: the trace of an object's last write is that object's alone. */
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

/** Whether an annotation belongs to one object alone, and is not shared by a Deployment and its new ReplicaSet. */
export function isOwnAnnotation(name: string): boolean {
  return NOT_COPIED.has(name) || isUncopied(name);
}

/** The int64 in an annotation: `undefined` where there is none, as Kubernetes goes on then. */
export function int64Annotation(annotations: Annotations | undefined, name: string): bigint | undefined {
  return parseInt64(annotations?.[name] ?? '');
}

/**
 * The size in an annotation; `undefined` where there is none that a ReplicaSet could have: no decimal digits alone, or more than
 * an int32 holds. Kubernetes goes on as if it were absent then.
 */
export function sizeAnnotation(annotations: Annotations | undefined, name: string): number | undefined {
  const text = annotations?.[name] ?? '';
  if (!/^\d+$/.test(text)) return undefined;
  const size = Number(text);
  return size > MAX_INT32 ? undefined : size;
}
