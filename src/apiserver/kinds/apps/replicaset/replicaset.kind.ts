import { ReplicaSet, sameMeaning, FIELD_IMMUTABLE } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { REPLICAS_SCALE } from '../../common/scale.js';
import { carryOver, defineKind } from '../../define-kind.js';
import {
  hostnameWarnings,
  podTemplateWarnings,
  templateOwnerWarnings,
} from '../../pod-template/pod-warnings.js';
import { defaultPodTemplate, omitZero } from '@rollkeeper/machinery/defaults';
import { AGE_COLUMN, NAME_COLUMN, column, WORKLOAD_COLUMNS, workloadCells } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import type { TableCell, TableColumn, FieldError, Subresource } from '../../kind-definition.js';
import { validateSelectorAndTemplate } from '../../pod-template/validate-template.js';
import { invalid } from '../../validation/field-errors.js';
import { shownSelector } from '../../validation/labels.js';
import { validateNonNegative, validateReplicaCounts } from '../../validation/numbers.js';

const STATUS_NUMBERS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'terminatingReplicas',
  'observedGeneration',
] as const;

/** Source: ValidateReplicaSetSpec in pkg/apis/apps/validation/validation.go. */
function validateReplicaSet(
  { spec = {} }: DecodedObject<ReplicaSet>,
  errors: FieldError[],
  old?: DecodedObject<ReplicaSet>,
): void {
  validateNonNegative(spec, ['replicas', 'minReadySeconds'], 'spec', errors);
  validateSelectorAndTemplate(spec, 'deployment', errors, old?.spec);
}

function validateReplicaSetUpdate(
  replicaSet: DecodedObject<ReplicaSet>,
  old: DecodedObject<ReplicaSet>,
  subresource: Subresource,
  errors: FieldError[],
): void {
  if (subresource === 'status') {
    const status = replicaSet.status ?? { replicas: 0 };
    validateNonNegative(status, STATUS_NUMBERS, 'status', errors);
    validateReplicaCounts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], errors);
    return;
  }
  validateReplicaSet(replicaSet, errors, old);
  if (!sameMeaning(replicaSet.spec?.selector, old.spec?.selector)) {
    errors.push(invalid('spec.selector', shownSelector(replicaSet.spec?.selector), FIELD_IMMUTABLE));
  }
}

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
