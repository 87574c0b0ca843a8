import type { CronJob as ICronJob, CronJobSpec } from '@rollkeeper/machinery/types/batch-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { ageSince } from '../common/human-duration.js';
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
import { invalid, notSupported, required } from '../validation/field-errors.js';
import { validateNonNegative } from '../validation/numbers.js';
import { validateSyntax } from '../validation/words.js';
import { checkSchedule, checkTimeZone } from './cron-schedule.js';
import { defaultFailurePolicy, validateJobTemplateSpec } from './job-spec.js';

type CronJob = DecodedObject<ICronJob>;

/** The suffix of a job's name has eleven characters. */
const MAX_NAME = 52;
const POLICIES = ['Allow', 'Forbid', 'Replace'];

const WORKLOAD: PrintedColumn<CronJob> = {
  columns: WORKLOAD_COLUMNS,
  cells: ({ spec }) => workloadCells(spec?.jobTemplate?.spec),
};

/** Source: pkg/registry/batch/cronjob/strategy.go, ValidateCronJobSpec. */
export const CRON_JOB_KIND = defineKind<CronJob>({
  type: { group: 'batch', version: 'v1', resource: 'cronjobs', kind: 'CronJob', namespaced: true },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.batch.v1.CronJob',
  shortNames: ['cj'],
  categories: ['all'],
  hasStatus: true,
  generationOf: ({ spec }) => spec,
  ...printed<CronJob>(
    NAME,
    shown('Schedule', ({ spec }) => spec?.schedule ?? ''),
    shown('Timezone', ({ spec }) => spec?.timeZone ?? '<none>'),
    shown('Suspend', ({ spec }) => (spec?.suspend ? 'True' : 'False'), 'boolean'),
    shown('Active', ({ status }) => status?.active?.length ?? 0, 'integer'),
    shown('Last Schedule', ({ status }, nowMs) =>
      status?.lastScheduleTime ? ageSince(status.lastScheduleTime, nowMs) : '<none>',
    ),
    AGE,
    WORKLOAD,
  ),
  applyDefaults(object) {
    const spec = (object.spec ??= {});
    spec.concurrencyPolicy ||= 'Allow';
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    const template = (spec.jobTemplate ??= {});
    defaultJobTemplate(template);
  },
  prepareForCreate(object) {
    object.status = {};
  },
  warnings: templateOwnerWarnings<CronJob>(({ metadata, spec }) => [
    ...hostnameWarnings(metadata.name),
    ...podTemplateWarnings(spec?.jobTemplate?.spec?.template ?? {}, 'spec.jobTemplate.spec.template'),
  ]),
  validate: (object, errors) => {
    const { name = '' } = object.metadata;
    if (name.length > MAX_NAME)
      errors.push(invalid('metadata.name', name, `must be no more than ${MAX_NAME} characters`));
    validateSpec(object.spec ?? {}, errors);
  },
  validateUpdate(object, old, subresource, errors) {
    if (subresource === '') validateSpec(object.spec ?? {}, errors, old.spec);
  },
});

/** Only the pods of the template and the rules about them get defaults here; those of a job are set when one is made. */
function defaultJobTemplate(template: NonNullable<Decoded<CronJobSpec>['jobTemplate']>): void {
  const spec = (template.spec ??= {});
  defaultFailurePolicy(spec);
  defaultPodTemplate(spec);
}

function validateSpec(spec: Decoded<CronJobSpec>, errors: FieldError[], old?: Decoded<CronJobSpec>): void {
  const { schedule, timeZone, concurrencyPolicy: policy, jobTemplate: template = {} } = spec;
  if (!schedule) errors.push(required('spec.schedule'));
  else validateSyntax(schedule, checkSchedule, 'spec.schedule', errors);
  if (timeZone !== undefined) validateSyntax(timeZone, checkTimeZone, 'spec.timeZone', errors);
  validateNonNegative(
    spec,
    ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'],
    'spec',
    errors,
  );
  if (!policy) errors.push(required('spec.concurrencyPolicy'));
  else if (!POLICIES.includes(policy)) errors.push(notSupported('spec.concurrencyPolicy', policy, POLICIES));
  validateJobTemplateSpec(template.spec ?? {}, 'spec.jobTemplate.spec', errors, old?.jobTemplate?.spec);
}
