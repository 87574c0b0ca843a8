import type {
  Decoded,
  DeepReadonly,
  KubernetesObject,
  LabelSelector,
} from '@rollkeeper/machinery/kubernetes';
import { selectorText } from '@rollkeeper/machinery/kubernetes';
import type { ScaleMapping, ShownKind } from '../kind-definition.js';
import { AGE_COLUMN, column } from './columns.js';
import { ageSince } from './human-duration.js';

interface Scalable extends KubernetesObject {
  spec?: { replicas?: number; selector?: DeepReadonly<Decoded<LabelSelector>> };
  status?: { replicas?: number };
}

/** The Scale view of everything that keeps its numbers in `spec.replicas` and `status.replicas`. */
export const REPLICAS_SCALE: ScaleMapping = {
  replicasPath: ['spec', 'replicas'],
  read(object) {
    const { spec, status }: Scalable = object;
    return {
      specReplicas: spec?.replicas ?? 0,
      statusReplicas: status?.replicas ?? 0,
      selector: selectorText(spec?.selector),
    };
  },
  write(object, specReplicas) {
    const scalable: Scalable = object;
    (scalable.spec ??= {}).replicas = specReplicas;
  },
};

/** How the Scale of any kind shows itself in a Table. */
export const SHOWN_SCALE: ShownKind = {
  type: { group: 'autoscaling', version: 'v1', resource: 'scales', kind: 'Scale', namespaced: true },
  listKind: 'ScaleList',
  // The descriptions of name and age are the same for all kinds.
  schema: 'io.k8s.api.apps.v1.ReplicaSet',
  columns: [
    column('Name'),
    {
      ...column('Desired', 'integer'),
      description: 'replicas is the desired number of instances for the scaled object.',
    },
    {
      ...column('Available', 'integer'),
      description: 'replicas is the actual number of observed instances of the scaled object.',
    },
    AGE_COLUMN,
  ],
  toRow(scale, nowMs) {
    const { metadata, spec, status }: Scalable = scale;
    const { creationTimestamp, name } = metadata;
    return [name, spec?.replicas ?? 0, status?.replicas ?? 0, ageSince(creationTimestamp, nowMs)];
  },
};
