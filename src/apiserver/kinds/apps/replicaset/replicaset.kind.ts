import { ReplicaSet, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { REPLICAS_SCALE } from '../../common/scale.js';
import { carryOver, defineKind } from '../../define-kind.js';
import {
  hostnameWarnings,
  podTemplateWarnings,
  templateOwnerWarnings,
} from '../../pod-template/pod-warnings.js';
import { defaultPodTemplate, omitZero } from '@rollkeeper/machinery/defaults';
import { validateReplicaSet, validateReplicaSetUpdate } from './replicaset.validation.js';
import { AGE_COLUMN, NAME_COLUMN, column, WORKLOAD_COLUMNS, workloadCells } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';

const REPLICA_SET_COLUMNS: readonly TableColumn[] = [
  NAME_COLUMN,
  column('Desired', 'integer'),
  column('Current', 'integer'),
  column('Ready', 'integer'),
  AGE_COLUMN,
  ...WORKLOAD_COLUMNS,
];

function replicaSetRow({ metadata, spec, status }: DecodedObject<ReplicaSet>, nowMs: number): TableCell[] {
  return [
    metadata.name,
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    ageSince(metadata.creationTimestamp, nowMs),
    ...workloadCells(spec),
  ];
}

/** Source of the preparations: pkg/registry/apps/replicaset/strategy.go. */
export const REPLICA_SET_KIND = defineKind<DecodedObject<ReplicaSet>>({
  type: ReplicaSet,
  schema: 'io.k8s.api.apps.v1.ReplicaSet',
  shortNames: ['rs'],
  categories: ['all'],
  subresources: ['status', 'scale'],
  columns: REPLICA_SET_COLUMNS,
  scale: REPLICAS_SCALE,
  toRow: replicaSetRow,
  applyDefaults(object) {
    const spec = (object.spec ??= {});
    spec.replicas ??= 1;
    defaultPodTemplate(spec);
    omitZero(spec, ['minReadySeconds']);
  },
  prepareForCreate(object) {
    object.status = { replicas: 0 };
    object.metadata.generation = 1;
  },
  prepareForUpdate(object, old, subresource) {
    const isStatus = subresource === 'status';
    carryOver(object, old, isStatus ? 'spec' : 'status');
    const isSame = isStatus || sameMeaning(object.spec, old.spec);
    object.metadata.generation = (old.metadata.generation ?? 0) + (isSame ? 0 : 1);
  },
  warnings: templateOwnerWarnings<DecodedObject<ReplicaSet>>(({ metadata, spec }) => [
    ...hostnameWarnings(metadata.name),
    ...podTemplateWarnings(spec?.template ?? {}),
  ]),
  validate: (object, errors) => validateReplicaSet(object, errors),
  validateUpdate: validateReplicaSetUpdate,
});
