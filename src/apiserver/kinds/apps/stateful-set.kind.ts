import type {
  StatefulSet as IStatefulSet,
  StatefulSetSpec,
  StatefulSetStatus,
} from '@rollkeeper/machinery/types/apps-v1';
import type { Volume } from '@rollkeeper/machinery/types/core-v1';
import { checkDns1123Label, isEmptySelector, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown, wide } from '../common/printed-columns.js';
import { REPLICAS_SCALE } from '../common/scale.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { podTemplateWarnings, templateOwnerWarnings } from '../pod-template/pod-warnings.js';
import {
  validateLongRunning,
  validateOwnSelector,
  validatePodTemplate,
  validateSelects,
} from '../pod-template/validate-template.js';
import { collectErrors, forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { shownSelector, validateAnnotations, validateLabels } from '../validation/labels.js';
import { validateCollisions, validateReplicaCounts, validateNonNegative } from '../validation/numbers.js';
import { validateIntOrPercent } from '../validation/quantities.js';
import { validateSyntax } from '../validation/words.js';
import { validateClaimSpec } from '../volumes/claim-spec.js';
import { defaultClaimSpec, defaultPodTemplate } from '@rollkeeper/machinery/defaults';

type StatefulSet = DecodedObject<IStatefulSet>;
type Spec = Decoded<StatefulSetSpec>;

const TEMPLATE_WARNINGS = templateOwnerWarnings<StatefulSet>(({ spec }) =>
  podTemplateWarnings(spec?.template ?? {}),
);

/** Source: pkg/registry/apps/statefulset/strategy.go, SetDefaults_StatefulSet. */
export const STATEFUL_SET_KIND = defineKind<StatefulSet>({
  type: { group: 'apps', version: 'v1', resource: 'statefulsets', kind: 'StatefulSet', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.apps.v1.StatefulSet',
  shortNames: ['sts'],
  categories: ['all'],
  checkName: checkDns1123Label,
  hasStatus: true,
  subresources: ['scale'],
  generationOf: ({ spec }) => spec,
  scale: REPLICAS_SCALE,
  ...printed<StatefulSet>(
    NAME,
    shown('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`),
    AGE,
    wide('Containers', ({ spec }) =>
      (spec?.template?.spec?.containers ?? []).map(({ name }) => name).join(','),
    ),
    wide('Images', ({ spec }) =>
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
    object.spec?.volumeClaimTemplates?.forEach(({ spec }, index) =>
      validateClaimSpec(spec ?? {}, `spec.volumeClaimTemplates[${index}].spec`, errors),
    );
    validateSpec(object.spec ?? {}, errors);
  },
  warnings: (object, old) => [
    ...TEMPLATE_WARNINGS(object, old),
    ...((object.spec?.revisionHistoryLimit ?? 0) < 0
      ? [
          'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
        ]
      : []),
  ],
  validateUpdate(object, old, subresource, errors) {
    if (subresource === 'status') validateStatus(object.status ?? { replicas: 0 }, old.status ?? {}, errors);
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
    // A client that sets only the type says nothing of partitions.
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
    const typed: { apiVersion?: string; kind?: string } = claim;
    typed.apiVersion ??= 'v1';
    typed.kind ??= 'PersistentVolumeClaim';
    defaultClaimSpec((claim.spec ??= {}));
    (claim.status ??= {}).phase ??= 'Pending';
  }
}

/** Source: ValidateStatefulSetSpec. */
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
  // Source: ValidatePodTemplateSpecForStatefulSet, which looks at these before the whole template, and again with it.
  validateLabels(template.metadata?.labels, 'spec.template.labels', errors);
  validateAnnotations(template.metadata?.annotations, 'spec.template.annotations', errors);
  // An object that an earlier release accepted can still be changed.
  const problems = templateProblems(spec, old);
  if (!old || problems.length === 0 || templateProblems(old).length === 0) errors.push(...problems);
  validateLongRunning(template, 'StatefulSet', errors);
}

/** A pod has the volumes of its claims, too, and they go before those of the template. */
function templateProblems({ template = {}, volumeClaimTemplates = [] }: Spec, old?: Spec): FieldError[] {
  const claims = new Set(volumeClaimTemplates.map(({ metadata }) => metadata?.name));
  const volumes: Decoded<Volume>[] = [
    ...[...claims].map((name = '') => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...(template.spec?.volumes ?? []).filter(({ name }) => !claims.has(name)),
  ];
  const whole = { ...template, spec: { ...template.spec, ...(volumes.length > 0 && { volumes }) } };
  return collectErrors((errors) => validatePodTemplate(whole, 'spec.template', errors, old?.template));
}

const RETENTION = ['Retain', 'Delete'];

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
      errors.push(
        invalid(
          path,
          internalForm('apps.StatefulSetUpdateStrategy', strategy),
          "must be 'RollingUpdate' or 'OnDelete'",
        ),
      );
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
    revisionHistoryLimit: undefined,
    ordinals: undefined,
  });
  if (sameMeaning(fixed(spec), fixed(old))) return;
  errors.push(
    forbidden(
      'spec',
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
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

function validateStatus(
  status: Decoded<StatefulSetStatus>,
  old: Decoded<StatefulSetStatus>,
  errors: FieldError[],
): void {
  validateNonNegative(status, COUNTS, 'status', errors);
  validateReplicaCounts(
    status,
    ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    errors,
    'cannot be greater than status.readyReplicas',
  );
  validateCollisions(status, old, errors);
}
