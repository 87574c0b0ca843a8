import { REPLICA_SETS } from '../../../../base/kubernetes/index.js';
import type { ReplicaSet, ReplicaSetSpec } from '../../../../base/kubernetes/index.js';
import { omitZero } from '../../common/omit-zero.js';
import { REPLICAS_SCALE } from '../../common/scale.js';
import { semanticEqual } from '../../common/semantic-equal.js';
import { carryOver, defineKind } from '../../define-kind.js';
import { defaultPodTemplate } from '../../pod-template/pod-spec-defaults.js';
import { REPLICA_SET_COLUMNS, replicaSetRow } from './replicaset.columns.js';
import { validateReplicaSet, validateReplicaSetUpdate } from './replicaset.validation.js';

/** Source of the preparations: pkg/registry/apps/replicaset/strategy.go. */
export const REPLICA_SET_KIND = defineKind({
  type: REPLICA_SETS,
  schema: 'io.k8s.api.apps.v1.ReplicaSet',
  shortNames: ['rs'],
  categories: ['all'],
  subresources: ['status', 'scale'],
  columns: REPLICA_SET_COLUMNS,
  scale: REPLICAS_SCALE,
  toRow: (object, nowMs) => replicaSetRow(object as unknown as ReplicaSet, nowMs),
  applyDefaults(object) {
    const replicaSet = object as unknown as ReplicaSet;
    const spec = (replicaSet.spec ??= {} as ReplicaSetSpec);
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
    const isSame = isStatus || semanticEqual(object.spec, old.spec);
    object.metadata.generation = (old.metadata.generation ?? 0) + (isSame ? 0 : 1);
  },
  validate: (object, errors) => validateReplicaSet(object as unknown as ReplicaSet, errors),
  validateUpdate: (object, old, subresource, errors) =>
    validateReplicaSetUpdate(
      object as unknown as ReplicaSet,
      old as unknown as ReplicaSet,
      subresource,
      errors,
    ),
  selectableFields: (object) => ({
    'status.replicas': String((object as unknown as ReplicaSet).status?.replicas ?? 0),
  }),
});
