import type { Int64, KubernetesObject, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import type { Kind } from '@rollkeeper/runtime';
import { ControllerRevision as BuiltInRevision } from '@rollkeeper/runtime';

/** Label of an EndpointSlice: its Service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';

/** A former state of a StatefulSet or a DaemonSet. */
export interface ControllerRevision extends KubernetesObject {
  /** Increases: the greatest is the newest. */
  revision: Int64;
  /** A strategic merge patch that restores that state on the current owner. */
  data?: { spec?: { template?: PodTemplateSpec & { $patch?: string } } };
}
/** Label of a pod of a StatefulSet or a DaemonSet: the revision that it was made from. */
export const REVISION_LABEL = 'controller-revision-hash';
export const ControllerRevision = BuiltInRevision as Kind<ControllerRevision>;
