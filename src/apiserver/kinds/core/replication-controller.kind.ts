import type {
  ReplicationController as IReplicationController,
  ReplicationControllerStatus,
} from '@rollkeeper/machinery/types/core-v1';
import { checkDns1123Subdomain } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import type { PrintedColumn } from '../common/printed-columns.js';
import { WORKLOAD_COLUMNS, workloadCells } from '../common/columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { defaultPodTemplate } from '@rollkeeper/machinery/defaults';
import {
  hostnameWarnings,
  podTemplateWarnings,
  templateOwnerWarnings,
} from '../pod-template/pod-warnings.js';
import {
  validateLongRunning,
  validatePodTemplate,
  validateSelects,
} from '../pod-template/validate-template.js';
import { required } from '../validation/field-errors.js';
import { validateReplicaCounts, validateNonNegative } from '../validation/numbers.js';

type ReplicationController = DecodedObject<IReplicationController>;

const WORKLOAD: PrintedColumn<ReplicationController> = {
  columns: WORKLOAD_COLUMNS,
  cells: ({ spec }) => workloadCells({ template: spec?.template, selector: { matchLabels: spec?.selector } }),
};

/** Source: pkg/registry/core/replicationcontroller/strategy.go, ValidateReplicationControllerSpec. */
export const REPLICATION_CONTROLLER_KIND = defineKind<ReplicationController>({
  type: {
    group: '',
    version: 'v1',
    resource: 'replicationcontrollers',
    kind: 'ReplicationController',
    namespaced: true,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.core.v1.ReplicationController',
  orphansByDefault: {},
  // The rule is the usual one, with words of its own.
  checkName: (name) => checkDns1123Subdomain(name).map((problem) => problem.replace(/characters$/, 'bytes')),
  shortNames: ['rc'],
  categories: ['all'],
  hasStatus: true,
  subresources: ['scale'],
  generationOf: ({ spec }) => spec,
  ...printed<ReplicationController>(
    NAME,
    shown('Desired', ({ spec }) => spec?.replicas ?? 0, 'integer'),
    shown('Current', ({ status }) => status?.replicas ?? 0, 'integer'),
    shown('Ready', ({ status }) => status?.readyReplicas ?? 0, 'integer'),
    AGE,
    WORKLOAD,
  ),
  scale: {
    replicasPath: ['spec', 'replicas'],
    read(object) {
      const { spec, status }: ReplicationController = object;
      const pairs = Object.entries(spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
      return {
        specReplicas: spec?.replicas ?? 0,
        statusReplicas: status?.replicas ?? 0,
        selector: pairs.sort().join(','),
      };
    },
    write(object, specReplicas) {
      const controller: ReplicationController = object;
      (controller.spec ??= {}).replicas = specReplicas;
    },
  },
  applyDefaults(object) {
    const spec = (object.spec ??= {});
    const labels = spec.template?.metadata?.labels;
    if (labels && isEmpty(spec.selector)) spec.selector = { ...labels };
    defaultLabels(object);
    spec.replicas ??= 1;
    if (spec.template) defaultPodTemplate(spec);
  },
  warnings: templateOwnerWarnings<ReplicationController>(({ metadata, spec }) => [
    ...hostnameWarnings(metadata.name),
    ...podTemplateWarnings(spec?.template ?? {}),
  ]),
  prepareForCreate(object) {
    object.status = { replicas: 0 };
  },
  // Stored objects are read with the defaults: a status without a spec takes no labels away.
  prepareForUpdate: (object) => defaultLabels(object),
  validate: (object, errors) => validate(object, errors),
  validateUpdate(object, old, subresource, errors) {
    if (subresource === 'status') validateStatus(object.status ?? { replicas: 0 }, errors);
    else validate(object, errors, old);
  },
  selectableFields: ({ status }) => ({ 'status.replicas': String(status?.replicas ?? 0) }),
});

function defaultLabels({ metadata, spec }: ReplicationController): void {
  const labels = spec?.template?.metadata?.labels;
  if (labels && isEmpty(metadata.labels)) metadata.labels = { ...labels };
}

function isEmpty(map: Record<string, unknown> | undefined): boolean {
  return Object.keys(map ?? {}).length === 0;
}

function validate(
  { spec = {} }: Readonly<ReplicationController>,
  errors: FieldError[],
  old?: Readonly<ReplicationController>,
): void {
  validateNonNegative(spec, ['minReadySeconds', 'replicas'], 'spec', errors);
  if (isEmpty(spec.selector)) errors.push(required('spec.selector'));
  if (!spec.template) {
    errors.push(required('spec.template'));
    return;
  }
  if (!isEmpty(spec.selector)) validateSelects({ matchLabels: spec.selector }, spec.template, errors);
  validatePodTemplate(spec.template, 'spec.template', errors, old?.spec?.template);
  validateLongRunning(spec.template, 'ReplicationController', errors);
}

const COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
] as const;

function validateStatus(status: Decoded<ReplicationControllerStatus>, errors: FieldError[]): void {
  validateNonNegative(status, COUNTS, 'status', errors);
  validateReplicaCounts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], errors);
}
