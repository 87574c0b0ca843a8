import {
  isConditionTrue,
  FIELD_IMMUTABLE,
  checkDns1123Label,
  goQuote,
  sameMeaning,
} from '@rollkeeper/machinery/kubernetes';
import type { Job as IJob, JobSpec } from '@rollkeeper/machinery/types/batch-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { humanDuration } from '../common/human-duration.js';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import type { PrintedColumn } from '../common/printed-columns.js';
import { WORKLOAD_COLUMNS, workloadCells } from '../common/columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import {
  hostnameWarnings,
  podTemplateWarnings,
  templateOwnerWarnings,
} from '../pod-template/pod-warnings.js';
import { validateSelects } from '../pod-template/validate-template.js';
import { invalid, required } from '../validation/field-errors.js';
import { internalForm } from '../validation/internal-form.js';
import { sortedMap, validateLabelSelector } from '../validation/labels.js';
import { validateJobStatus } from './job-status.validation.js';
import { defaultJobSpec, generatedLabels, generateSelector, validateJobSpec } from './job-spec.js';

type Job = DecodedObject<IJob>;
type Spec = Decoded<JobSpec>;

const WORKLOAD: PrintedColumn<Job> = { columns: WORKLOAD_COLUMNS, cells: ({ spec }) => workloadCells(spec) };

/** Source: pkg/registry/batch/job/strategy.go. */
export const JOB_KIND = defineKind<Job>({
  type: { group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.batch.v1.Job',
  orphansByDefault: {
    warning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  },
  categories: ['all'],
  hasStatus: true,
  generationOf: ({ spec }) => spec,
  ...printed<Job>(
    NAME,
    shown('Status', statusWord),
    shown('Completions', completionsText),
    shown('Duration', ({ status }, nowMs) => {
      if (!status?.startTime) return '';
      const end = status.completionTime ? Date.parse(status.completionTime) : nowMs;
      return humanDuration(end - Date.parse(status.startTime));
    }),
    AGE,
    WORKLOAD,
  ),
  applyDefaults(object) {
    defaultJobSpec((object.spec ??= {}));
    object.spec.manualSelector ??= false;
    const labels = object.spec.template?.metadata?.labels;
    // One and the same, as in the genuine defaults: what is generated for the pods is the job's as well.
    if (labels && Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = labels;
  },
  prepareForCreate(object) {
    object.status = {};
    if (object.spec && object.spec.manualSelector !== true) generateSelector(object, object.spec);
    const labels = object.spec?.template?.metadata?.labels;
    const hasNone = Object.keys(object.metadata.labels ?? {}).length === 0;
    if (labels && (hasNone || object.metadata.labels === labels)) object.metadata.labels = { ...labels };
  },
  // Stored objects are read with the defaults: a Job never shows no labels, also where a status without a spec was written.
  prepareForUpdate: (object) => defaultLabels(object),
  validate(object, errors) {
    validate(object.spec ?? {}, errors);
    validatePodNames(object, errors);
  },
  validateUpdate(object, old, subresource, errors, validateMetaAgain) {
    if (subresource === 'status') {
      validateJobStatus(object, old, errors);
      return;
    }
    const spec: Spec = object.spec ?? {};
    validateGenerated(object, old, errors);
    validate(spec, errors, old.spec);
    // The update looks at the whole of it once more.
    validateMetaAgain();
    validate(spec, errors, old.spec);
    validateSpecUpdate(spec, old.spec ?? {}, errors);
  },
  warnings: templateOwnerWarnings<Job>(({ metadata, spec }) => [
    ...hostnameWarnings(metadata.name),
    ...podTemplateWarnings(spec?.template ?? {}),
  ]),
  selectableFields: ({ status }) => ({ 'status.successful': String(status?.succeeded ?? 0) }),
  unknownField: (field) => `field label ${goQuote(field)} not supported for Job`,
});

function defaultLabels({ metadata, spec }: Job): void {
  const labels = spec?.template?.metadata?.labels;
  if (labels && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
}

/** The labels by which a job finds its pods stay with them. Source: validateGeneratedSelector. */
function validateGenerated(
  { metadata, spec = {} }: Readonly<Job>,
  old: Readonly<Job>,
  errors: FieldError[],
): void {
  if (spec.manualSelector === true || !spec.selector) return;
  const { labels } = spec.template?.metadata ?? {};
  const before = old.spec?.template?.metadata?.labels ?? {};
  const { name, uid = '' } = metadata;
  for (const [label, value] of Object.entries(generatedLabels(name, uid))) {
    const field = `spec.template.metadata.labels[${label}]`;
    if (before[label] === undefined || labels?.[label] === value) continue;
    if (labels?.[label] === undefined) errors.push(required(field, `must be '${value}'`));
    else errors.push(invalid(field, sortedMap(labels), `must be '${value}'`));
  }
}

/** Selects no pod: what an absent selector does. */
const NOTHING = { matchExpressions: [{ key: 'none', operator: 'In', values: [] }] };

function validate(spec: Spec, errors: FieldError[], old?: Spec): void {
  validateJobSpec(spec, 'spec', errors, old);
  const { selector, template = {} } = spec;
  if (!selector) errors.push(required('spec.selector'));
  if (!selector || validateLabelSelector(selector, 'spec.selector', errors))
    validateSelects(selector ?? NOTHING, template, errors);
}

/** The pods of an indexed job have the index in their names. Source: ValidateJob. */
function validatePodNames({ metadata, spec }: Readonly<Job>, errors: FieldError[]): void {
  const { completionMode, completions = 0 } = spec ?? {};
  if (completionMode !== 'Indexed' || completions <= 0) return;
  const { name = '' } = metadata;
  const longest = `${name}-${completions - 1}`;
  if (checkDns1123Label(longest).length > 0)
    errors.push(
      invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${longest}`),
    );
}

/** Source: ValidateJobSpecUpdate. */
function validateSpecUpdate(spec: Spec, old: Spec, errors: FieldError[]): void {
  const isSuspended = old.suspend === true;
  const immutable = (field: keyof Decoded<JobSpec>): void => {
    if (!sameMeaning(spec[field], old[field]))
      errors.push(invalid(`spec.${field}`, shownPolicy(field, spec) ?? null, FIELD_IMMUTABLE));
  };
  if (spec.completionMode !== 'Indexed') immutable('completions');
  else if (
    spec.completions !== undefined &&
    spec.completions !== old.completions &&
    spec.completions !== spec.parallelism
  )
    errors.push(
      invalid('spec.completions', spec.completions, 'can only be modified in tandem with spec.parallelism'),
    );
  immutable('selector');
  if (!sameMeaning(comparable(spec, isSuspended), comparable(old, isSuspended)))
    errors.push(
      isSuspended
        ? invalid('spec.template.spec', internalForm('core.PodSpec', spec.template?.spec), FIELD_IMMUTABLE)
        : invalid('spec.template', internalForm('core.PodTemplateSpec', spec.template), FIELD_IMMUTABLE),
    );
  immutable('completionMode');
  immutable('podFailurePolicy');
  immutable('backoffLimitPerIndex');
  immutable('managedBy');
  immutable('successPolicy');
}

const INTERNAL_TYPES = {
  podFailurePolicy: 'batch.PodFailurePolicy',
  successPolicy: 'batch.SuccessPolicy',
} as const;

function shownPolicy(field: keyof Decoded<JobSpec>, spec: Spec): unknown {
  const value = spec[field];
  const isPolicy = field === 'podFailurePolicy' || field === 'successPolicy';
  return value && isPolicy ? internalForm(INTERNAL_TYPES[field], value) : value;
}

/** The template without what a job that has not started may still change: where its pods run, and with how much. */
function comparable({ template }: Spec, isSuspended: boolean): object | undefined {
  if (!isSuspended) return template;
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    schedulingGates: _gates,
    affinity,
    containers,
    initContainers,
    ...spec
  } = template?.spec ?? {};
  const { nodeAffinity: _nodes, ...rest } = affinity ?? {};
  const { labels: _labels, annotations: _annotations, ...metadata } = template?.metadata ?? {};
  return {
    metadata,
    spec: {
      ...spec,
      affinity: rest,
      containers: containers?.map(withoutResources),
      initContainers: initContainers?.map(withoutResources),
    },
  };
}

function withoutResources(container: object): object {
  return { ...container, resources: undefined };
}

/** Source: printJob in pkg/printers/internalversion/printers.go. */
function statusWord({ metadata, status }: Readonly<Job>): string {
  if (isConditionTrue(status?.conditions, 'Complete')) return 'Complete';
  if (isConditionTrue(status?.conditions, 'Failed')) return 'Failed';
  if (metadata.deletionTimestamp) return 'Terminating';
  if (isConditionTrue(status?.conditions, 'Suspended')) return 'Suspended';
  if (isConditionTrue(status?.conditions, 'FailureTarget')) return 'FailureTarget';
  if (isConditionTrue(status?.conditions, 'SuccessCriteriaMet')) return 'SuccessCriteriaMet';
  return 'Running';
}

function completionsText({ spec, status }: Readonly<Job>): string {
  const done = status?.succeeded ?? 0;
  if (spec?.completions !== undefined) return `${done}/${spec.completions}`;
  const parallel = spec?.parallelism ?? 0;
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
}
