import type {
  DaemonSet as IDaemonSet,
  DaemonSetSpec,
  DaemonSetStatus,
} from '@rollkeeper/machinery/types/apps-v1';
import { FIELD_IMMUTABLE, isEmptySelector, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { labelsText, WORKLOAD_COLUMNS, workloadCells } from '../common/columns.js';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import type { PrintedColumn } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { TEMPLATE_GENERATION, templateGenerationProblem } from './old-fields.js';
import { defaultPodTemplate } from '@rollkeeper/machinery/defaults';
import { podTemplateWarnings, templateOwnerWarnings } from '../pod-template/pod-warnings.js';
import {
  validateLongRunning,
  validatePodTemplate,
  validateSelects,
} from '../pod-template/validate-template.js';
import { invalid, notSupported, required } from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { shownSelector, validateLabelSelector } from '../validation/labels.js';
import { validateNonNegative } from '../validation/numbers.js';
import { numberIn, validateIntOrPercent, validateNotAboveAll } from '../validation/quantities.js';

type DaemonSet = DecodedObject<IDaemonSet>;
type Spec = Decoded<DaemonSetSpec>;

const WORKLOAD: PrintedColumn<DaemonSet> = {
  columns: WORKLOAD_COLUMNS,
  cells: ({ spec }) => workloadCells(spec),
};

const count = (name: string, field: Exclude<keyof DaemonSetStatus, 'conditions'>): PrintedColumn<DaemonSet> =>
  shown(name, ({ status }) => status?.[field] ?? 0, 'integer');

/** Source: pkg/registry/apps/daemonset/strategy.go, SetDefaults_DaemonSet. */
export const DAEMON_SET_KIND = defineKind<DaemonSet>({
  type: { group: 'apps', version: 'v1', resource: 'daemonsets', kind: 'DaemonSet', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.apps.v1.DaemonSet',
  shortNames: ['ds'],
  categories: ['all'],
  hasStatus: true,
  conversionProblem: templateGenerationProblem,
  // Source: Convert_apps_DaemonSet_To_v1_DaemonSet in pkg/apis/apps/v1/conversion.go.
  annotationsOfEmpty: { [TEMPLATE_GENERATION]: '0' },
  generationOf: ({ spec }) => spec,
  ...printed<DaemonSet>(
    NAME,
    count('Desired', 'desiredNumberScheduled'),
    count('Current', 'currentNumberScheduled'),
    count('Ready', 'numberReady'),
    count('Up-to-date', 'updatedNumberScheduled'),
    count('Available', 'numberAvailable'),
    shown('Node Selector', ({ spec }) => labelsText(spec?.template?.spec?.nodeSelector)),
    AGE,
    WORKLOAD,
  ),
  applyDefaults(object) {
    const spec = (object.spec ??= {});
    const strategy = (spec.updateStrategy ??= {});
    strategy.type ||= 'RollingUpdate';
    if (strategy.type === 'RollingUpdate') {
      const rolling = (strategy.rollingUpdate ??= {});
      rolling.maxUnavailable ??= 1;
      rolling.maxSurge ??= 0;
    }
    spec.revisionHistoryLimit ??= 10;
    defaultPodTemplate(spec);
  },
  prepareForCreate(object) {
    noteTemplateGeneration(object, 1);
    object.status = {
      currentNumberScheduled: 0,
      desiredNumberScheduled: 0,
      numberMisscheduled: 0,
      numberReady: 0,
    };
  },
  prepareForUpdate(object, old, subresource) {
    const before = templateGeneration(old);
    const isSame = subresource !== '' || sameMeaning(object.spec?.template, old.spec?.template);
    noteTemplateGeneration(object, isSame ? before : (before ?? 0) + 1);
  },
  warnings: templateOwnerWarnings<DaemonSet>(({ spec }) => podTemplateWarnings(spec?.template ?? {})),
  validate: ({ spec }, errors) => validateSpec(spec ?? {}, errors),
  validateUpdate(object, old, subresource, errors) {
    if (subresource === 'status') {
      validateNonNegative<Decoded<DaemonSetStatus>>(object.status ?? {}, COUNTS, 'status', errors);
      return;
    }
    if (!sameMeaning(object.spec?.selector, old.spec?.selector))
      errors.push(invalid('spec.selector', shownSelector(object.spec?.selector), FIELD_IMMUTABLE));
    validateSpec(object.spec ?? {}, errors, old.spec);
  },
});

/** The generation of the template, which an older version of the API had as a field. */
function templateGeneration({ metadata }: Readonly<DaemonSet>): number | undefined {
  const text = metadata.annotations?.[TEMPLATE_GENERATION];
  return text === undefined || !/^\d{1,15}$/.test(text) ? undefined : Number(text);
}

function noteTemplateGeneration({ metadata }: DaemonSet, generation: number | undefined): void {
  if (generation === undefined) return;
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

const COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const;

/** Source: ValidateDaemonSetSpec in pkg/apis/apps/validation/validation.go. */
function validateSpec(spec: Spec, errors: FieldError[], old?: Spec): void {
  const { selector, template = {} } = spec;
  const isUsable = !selector || validateLabelSelector(selector, 'spec.selector', errors);
  if (isUsable) validateSelects(selector, template, errors);
  if (selector && isEmptySelector(selector))
    errors.push(invalid('spec.selector', shownSelector(selector), 'empty selector is invalid for daemonset'));
  validatePodTemplate(template, 'spec.template', errors, old?.template);
  validateLongRunning(template, 'DaemonSet', errors);
  validateNonNegative(spec, ['minReadySeconds', 'revisionHistoryLimit'], 'spec', errors);
  validateStrategy(spec.updateStrategy ?? {}, 'spec.updateStrategy', errors);
}

function validateStrategy(
  strategy: NonNullable<Decoded<DaemonSetSpec>['updateStrategy']>,
  path: string,
  errors: FieldError[],
): void {
  if (strategy.type === 'OnDelete') return;
  if (strategy.type !== 'RollingUpdate') {
    errors.push(
      notSupported(path, internalForm('apps.DaemonSetUpdateStrategy', strategy), [
        'RollingUpdate',
        'OnDelete',
      ]),
    );
    return;
  }
  if (!strategy.rollingUpdate) {
    errors.push(required(`${path}.rollingUpdate`));
    return;
  }
  const { maxUnavailable = 0, maxSurge = 0 } = strategy.rollingUpdate;
  const [unavailable, surge] = [numberIn(maxUnavailable), numberIn(maxSurge)];
  for (const [field, value] of Object.entries({ maxUnavailable, maxSurge })) {
    validateIntOrPercent(value, `${path}.rollingUpdate.${field}`, errors);
    validateNotAboveAll(value, `${path}.rollingUpdate.${field}`, errors);
  }
  if (unavailable !== 0 && surge !== 0)
    errors.push(
      invalid(`${path}.rollingUpdate.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'),
    );
  else if (unavailable === 0 && surge === 0)
    errors.push(required(`${path}.rollingUpdate.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
}
