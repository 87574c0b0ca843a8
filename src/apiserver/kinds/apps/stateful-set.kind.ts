import type {
  StatefulSet as IStatefulSet,
  StatefulSetSpec,
  StatefulSetStatus,
} from '@rollkeeper/machinery/types/apps-v1';
import { checkDns1123Label, isEmptySelector, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown, wide } from '../common/printed-columns.js';
import { REPLICAS_SCALE } from '../common/scale.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { podTemplateWarnings, templateOwnerWarnings } from '../pod-template/pod-warnings.js';
import {
  validateDeletionCost,
  validateLongRunning,
  validateOwnSelector,
  validateSelects,
} from '../pod-template/validate-template.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { shownSelector, validateAnnotations, validateLabels } from '../validation/labels.js';
import { validateReplicaCounts, validateNonNegative } from '../validation/numbers.js';
import { validateIntOrPercent } from '../validation/quantities.js';
import { validateSyntax } from '../validation/words.js';
import { defaultClaimSpec, defaultPodTemplate } from '@rollkeeper/machinery/defaults';

type StatefulSet = DecodedObject<IStatefulSet>;
type Spec = Decoded<StatefulSetSpec>;

/** Source: pkg/registry/apps/statefulset/strategy.go, SetDefaults_StatefulSet. */
export const STATEFUL_SET_KIND = defineKind<StatefulSet>({
  type: { group: 'apps', version: 'v1', resource: 'statefulsets', kind: 'StatefulSet', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.apps.v1.StatefulSet',
  shortNames: ['sts'],
  categories: ['all'],
  hasStatus: true,
  subresources: ['scale'],
  generationOf: ({ spec }) => spec,
  scale: REPLICAS_SCALE,
  ...printed<StatefulSet>(
    NAME,
    shown(
      'Ready',
      'How many pods are ready, of how many that are wanted.',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ),
    AGE,
    wide('Containers', 'Names of the containers in the template.', ({ spec }) =>
      (spec?.template?.spec?.containers ?? []).map(({ name }) => name).join(','),
    ),
    wide('Images', 'Images of the containers in the template.', ({ spec }) =>
      (spec?.template?.spec?.containers ?? []).map(({ image }) => image ?? '').join(','),
    ),
  ),
  applyDefaults: (object) => applyDefaults((object.spec ??= {})),
  prepareForCreate(object) {
    object.status = { replicas: 0, availableReplicas: 0 };
  },
  validate(object, errors) {
    const { serviceName } = object.spec ?? {};
    // Sets that were made with another name keep it: it cannot be changed.
    if (serviceName) validateSyntax(serviceName, checkDns1123Label, 'spec.serviceName', errors);
    validateSpec(object.spec ?? {}, errors);
  },
  warnings: templateOwnerWarnings<StatefulSet>(({ spec }) => podTemplateWarnings(spec?.template ?? {})),
  validateUpdate(object, old, subresource, errors) {
    if (subresource === 'status') validateStatus(object.status ?? { replicas: 0 }, errors);
    else {
      validateSpec(object.spec ?? {}, errors, old.spec);
      validateSpecUpdate(object.spec ?? {}, old.spec ?? {}, errors);
    }
  },
});

function applyDefaults(spec: Decoded<StatefulSetSpec>): void {
  spec.podManagementPolicy ||= 'OrderedReady';
  const strategy = (spec.updateStrategy ??= {});
  const hasType = !!strategy.type;
  strategy.type ||= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    // Who says the type alone says nothing of partitions.
    const rolling = hasType ? strategy.rollingUpdate : (strategy.rollingUpdate ??= {});
    if (rolling) rolling.partition ??= 0;
  }
  const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
  retention.whenDeleted ||= 'Retain';
  retention.whenScaled ||= 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  defaultPodTemplate(spec);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    const typed = claim as { apiVersion?: string; kind?: string };
    typed.apiVersion ??= 'v1';
    typed.kind ??= 'PersistentVolumeClaim';
    defaultClaimSpec((claim.spec ??= {}));
    (claim.status ??= {}).phase ??= 'Pending';
  }
}

/** Pods in a template here are only looked at when they are created. Source: ValidateStatefulSetSpec. */
function validateSpec(spec: Spec, errors: FieldError[], old?: Spec): void {
  validatePolicies(spec, errors);
  validateNonNegative(spec, ['replicas', 'minReadySeconds'], 'spec', errors);
  const start = spec.ordinals?.start;
  if (start !== undefined) validateNonNegative({ start }, ['start'], 'spec.ordinals', errors);
  const { selector, template = {} } = spec;
  if (!validateOwnSelector(selector, 'statefulset', errors)) {
    errors.push(invalid('spec.selector', shownSelector(selector), ''));
    return;
  }
  if (!selector || !isEmptySelector(selector)) validateSelects(selector, template, errors);
  validateLabels(template.metadata?.labels, 'spec.template.labels', errors);
  validateAnnotations(template.metadata?.annotations, 'spec.template.annotations', errors);
  validateDeletionCost(template, 'spec.template.annotations', errors, old?.template);
  validateLongRunning(template, 'StatefulSet', errors);
}

const RETENTION = ['Delete', 'Retain'];

function validatePolicies(spec: Spec, errors: FieldError[]): void {
  const { podManagementPolicy: management, updateStrategy: strategy = {} } = spec;
  const retention = spec.persistentVolumeClaimRetentionPolicy;
  if (!management) errors.push(required('spec.podManagementPolicy'));
  else if (management !== 'OrderedReady' && management !== 'Parallel')
    errors.push(invalid('spec.podManagementPolicy', management, "must be 'OrderedReady' or 'Parallel'"));
  const path = 'spec.updateStrategy';
  switch (strategy.type) {
    case undefined:
    case '' as never:
      errors.push(required(path));
      break;
    case 'OnDelete':
      if (strategy.rollingUpdate)
        errors.push(
          invalid(
            `${path}.rollingUpdate`,
            strategy.rollingUpdate,
            "only allowed for updateStrategy 'RollingUpdate'",
          ),
        );
      break;
    case 'RollingUpdate': {
      const { partition, maxUnavailable } = strategy.rollingUpdate ?? {};
      if (partition !== undefined)
        validateNonNegative({ partition }, ['partition'], `${path}.rollingUpdate`, errors);
      if (maxUnavailable !== undefined) {
        validateIntOrPercent(maxUnavailable, `${path}.rollingUpdate.maxUnavailable`, errors);
        if (maxUnavailable === 0 || maxUnavailable === '0%')
          errors.push(invalid(`${path}.rollingUpdate.maxUnavailable`, maxUnavailable, 'cannot be 0'));
      }
      break;
    }
    default:
      errors.push(invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'"));
  }
  for (const field of ['whenDeleted', 'whenScaled'] as const) {
    const word = retention?.[field];
    if (word !== undefined && !RETENTION.includes(word))
      errors.push(notSupported(`spec.persistentVolumeClaimRetentionPolicy.${field}`, word, RETENTION));
  }
}

/** Source: ValidateStatefulSetUpdate. */
function validateSpecUpdate(spec: Spec, old: Spec, errors: FieldError[]): void {
  const fixed = (one: Spec): object => ({
    ...one,
    replicas: undefined,
    template: undefined,
    updateStrategy: undefined,
    persistentVolumeClaimRetentionPolicy: undefined,
    minReadySeconds: undefined,
    ordinals: undefined,
  });
  if (semanticEqual(fixed(spec), fixed(old))) return;
  errors.push(
    forbidden(
      'spec',
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ),
  );
}

const COUNTS = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'availableReplicas',
  'observedGeneration',
  'collisionCount',
] as const;

function validateStatus(status: Decoded<StatefulSetStatus>, errors: FieldError[]): void {
  validateNonNegative(status, COUNTS, 'status', errors);
  validateReplicaCounts(
    status,
    ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    errors,
    'cannot be greater than status.readyReplicas',
  );
}
