import { Deployment, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { REPLICAS_SCALE } from '../../common/scale.js';
import { carryOver, defineKind } from '../../define-kind.js';
import { defaultDeployment } from '@rollkeeper/machinery/defaults';
import { rollbackProblem } from '../old-fields.js';
import { validateDeployment, validateDeploymentUpdate } from './deployment.validation.js';
import { AGE_COLUMN, NAME_COLUMN, column, WORKLOAD_COLUMNS, workloadCells } from '../../common/columns.js';
import {
  hostnameWarnings,
  podTemplateWarnings,
  templateOwnerWarnings,
} from '../../pod-template/pod-warnings.js';
import { ageSince } from '../../common/human-duration.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';

const DEPLOYMENT_COLUMNS: readonly TableColumn[] = [
  NAME_COLUMN,
  column('Ready'),
  column('Up-to-date'),
  column('Available'),
  AGE_COLUMN,
  ...WORKLOAD_COLUMNS,
];

function deploymentRow({ metadata, spec, status }: DecodedObject<Deployment>, nowMs: number): TableCell[] {
  return [
    metadata.name,
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    status?.updatedReplicas ?? 0,
    status?.availableReplicas ?? 0,
    ageSince(metadata.creationTimestamp, nowMs),
    ...workloadCells(spec),
  ];
}

/** Source of the preparations: pkg/registry/apps/deployment/strategy.go. */
export const DEPLOYMENT_KIND = defineKind<DecodedObject<Deployment>>({
  type: Deployment,
  ownershipFrom: 'creation',
  keptWithStatus: ['labels'],
  schema: 'io.k8s.api.apps.v1.Deployment',
  shortNames: ['deploy'],
  categories: ['all'],
  subresources: ['status', 'scale'],
  columns: DEPLOYMENT_COLUMNS,
  scale: REPLICAS_SCALE,
  toRow: deploymentRow,
  conversionProblem: rollbackProblem,
  applyDefaults: defaultDeployment,
  prepareForCreate(object) {
    object.status = {};
    object.metadata.generation = 1;
  },
  prepareForUpdate(object, old, subresource) {
    if (subresource === 'status') {
      carryOver(object, old, 'spec');
      if (old.metadata.labels) object.metadata.labels = { ...old.metadata.labels };
      else delete object.metadata.labels;
      return;
    }
    carryOver(object, old, 'status');
    // Annotations steer a Deployment too (revision, rollback), so a change of them counts.
    const isSame =
      sameMeaning(object.spec, old.spec) &&
      sameMeaning(object.metadata.annotations, old.metadata.annotations);
    object.metadata.generation = (old.metadata.generation ?? 0) + (isSame ? 0 : 1);
  },
  warnings: templateOwnerWarnings<DecodedObject<Deployment>>(({ metadata, spec }) => [
    ...hostnameWarnings(metadata.name),
    ...podTemplateWarnings(spec?.template ?? {}),
  ]),
  validate: (object, errors) => validateDeployment(object, errors),
  validateUpdate: validateDeploymentUpdate,
});
