import { checkDns1123Subdomain } from '@rollkeeper/machinery/kubernetes';
import type {
  FlowSchema as IFlowSchema,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from '@rollkeeper/machinery/types/flowcontrol-v1';
import type { Decoded, DecodedObject, ObjectMeta } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

type FlowSchema = DecodedObject<IFlowSchema>;
type Level = DecodedObject<PriorityLevelConfiguration>;

const GROUP = 'flowcontrol.apiserver.k8s.io';
const MAX_PRECEDENCE = 10_000;

/** Source: ValidateFlowSchema in pkg/apis/flowcontrol/validation/validation.go. */
export const FLOW_SCHEMA_KIND = defineKind<FlowSchema>({
  type: { group: GROUP, version: 'v1', resource: 'flowschemas', kind: 'FlowSchema', namespaced: false },
  schema: 'io.k8s.api.flowcontrol.v1.FlowSchema',
  hasStatus: true,
  generationOf: ({ spec }) => spec,
  ...printed<FlowSchema>(
    NAME,
    shown(
      'PriorityLevel',
      'The level of its requests.',
      ({ spec }) => spec?.priorityLevelConfiguration?.name ?? '',
    ),
    shown(
      'MatchingPrecedence',
      'The smaller, the sooner it is asked.',
      ({ spec }) => spec?.matchingPrecedence ?? 0,
      'integer',
    ),
    shown(
      'DistinguisherMethod',
      'How its requests are told apart.',
      ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>',
    ),
    AGE,
    shown(
      'MissingPL',
      'Whether its level is not there.',
      ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
    ),
  ),
  applyDefaults({ spec }) {
    if (spec) spec.matchingPrecedence ||= 1000;
  },
  validate({ spec }, errors) {
    const { matchingPrecedence = 0, distinguisherMethod, priorityLevelConfiguration, rules } = spec ?? {};
    if (matchingPrecedence <= 0 || matchingPrecedence > MAX_PRECEDENCE)
      errors.push(
        invalid(
          'spec.matchingPrecedence',
          matchingPrecedence,
          `must be a value between 1 and ${MAX_PRECEDENCE} (both inclusive)`,
        ),
      );
    const method = distinguisherMethod?.type;
    if (distinguisherMethod && method !== 'ByUser' && method !== 'ByNamespace')
      errors.push(notSupported('spec.distinguisherMethod', distinguisherMethod, ['ByNamespace', 'ByUser']));
    const level = priorityLevelConfiguration?.name;
    if (!level)
      errors.push(required('spec.priorityLevelConfiguration.name', 'must reference a priority level'));
    else validateSyntax(level, checkDns1123Subdomain, 'spec.priorityLevelConfiguration.name', errors);
    rules?.forEach((rule, index) => validateFlowRule(rule, `spec.rules[${index}]`, errors));
  },
});

const SUBJECT_FIELDS: ReadonlyMap<string, 'user' | 'group' | 'serviceAccount'> = new Map([
  ['User', 'user'],
  ['Group', 'group'],
  ['ServiceAccount', 'serviceAccount'],
]);

function validateFlowRule(
  { subjects = [], resourceRules = [], nonResourceRules = [] }: Decoded<PolicyRulesWithSubjects>,
  path: string,
  errors: FieldError[],
): void {
  if (subjects.length === 0)
    errors.push(required(`${path}.subjects`, 'subjects must contain at least one value'));
  subjects.forEach((subject, index) => {
    const at = `${path}.subjects[${index}]`;
    const { kind = '' } = subject;
    const own = SUBJECT_FIELDS.get(kind);
    if (own === undefined) errors.push(notSupported(`${at}.kind`, kind, [...SUBJECT_FIELDS.keys()].sort()));
    else if (!subject[own])
      errors.push(required(`${at}.${own}`, `${own} is required when subject kind is '${kind}'`));
    else if (!subject[own].name) errors.push(required(`${at}.${own}.name`));
  });
  if (resourceRules.length + nonResourceRules.length === 0)
    errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  resourceRules.forEach((rule, index) => {
    const at = `${path}.resourceRules[${index}]`;
    for (const field of ['verbs', 'apiGroups', 'resources'] as const)
      if (!rule[field]?.length) errors.push(required(`${at}.${field}`));
    if (!rule.namespaces?.length && !rule.clusterScope)
      errors.push(
        required(
          `${at}.namespaces`,
          'resource rules that are not cluster scoped must supply at least one namespace',
        ),
      );
  });
  nonResourceRules.forEach((rule, index) => {
    const at = `${path}.nonResourceRules[${index}]`;
    for (const field of ['verbs', 'nonResourceURLs'] as const)
      if (!rule[field]?.length) errors.push(required(`${at}.${field}`));
  });
}

/** Source: ValidatePriorityLevelConfiguration. */
export const PRIORITY_LEVEL_CONFIGURATION_KIND = defineKind<Level>({
  type: {
    group: GROUP,
    version: 'v1',
    resource: 'prioritylevelconfigurations',
    kind: 'PriorityLevelConfiguration',
    namespaced: false,
  },
  schema: 'io.k8s.api.flowcontrol.v1.PriorityLevelConfiguration',
  hasStatus: true,
  generationOf: ({ spec }) => spec,
  ...printed<Level>(
    NAME,
    shown('Type', 'Exempt or Limited.', ({ spec }) => spec?.type ?? ''),
    shown('NominalConcurrencyShares', 'Its share of what is served at once.', ({ spec }) =>
      String(spec?.limited?.nominalConcurrencyShares ?? '<none>'),
    ),
    shown('Queues', 'How many queues it has.', ({ spec }) =>
      String(spec?.limited?.limitResponse?.queuing?.queues ?? '<none>'),
    ),
    shown('HandSize', 'How many queues a flow may use.', ({ spec }) =>
      String(spec?.limited?.limitResponse?.queuing?.handSize ?? '<none>'),
    ),
    shown('QueueLengthLimit', 'How many requests may wait in a queue.', ({ spec }) =>
      String(spec?.limited?.limitResponse?.queuing?.queueLengthLimit ?? '<none>'),
    ),
    AGE,
  ),
  applyDefaults({ spec }) {
    const limited = spec?.limited;
    if (spec?.exempt) {
      spec.exempt.nominalConcurrencyShares ??= 0;
      spec.exempt.lendablePercent ??= 0;
    }
    if (!limited) return;
    limited.nominalConcurrencyShares ??= 30;
    limited.lendablePercent ??= 0;
    const queuing = limited.limitResponse?.queuing;
    if (!queuing) return;
    queuing.handSize ||= 8;
    queuing.queues ||= 64;
    queuing.queueLengthLimit ||= 50;
  },
  validate({ metadata, spec }, errors) {
    const { name = '' }: Partial<ObjectMeta> = metadata;
    validateLevel(name, spec ?? {}, errors);
  },
});

function validateLevel(
  name: string,
  { type, limited, exempt }: Decoded<PriorityLevelConfigurationSpec>,
  errors: FieldError[],
): void {
  if ((name === 'exempt') !== (type === 'Exempt') && (type === 'Exempt' || name === 'exempt'))
    errors.push(invalid('spec.type', type ?? '', "type must be 'Exempt' if and only if name is 'exempt'"));
  switch (type) {
    case 'Exempt':
      if (limited) errors.push(forbidden('spec.limited', 'must be nil if the type is not Limited'));
      break;
    case 'Limited':
      if (exempt) errors.push(forbidden('spec.exempt', 'must be nil if the type is Limited'));
      if (!limited) {
        errors.push(required('spec.limited', 'must not be empty when type is Limited'));
        break;
      }
      if ((limited.nominalConcurrencyShares ?? 0) < 0)
        errors.push(
          invalid(
            'spec.limited.nominalConcurrencyShares',
            limited.nominalConcurrencyShares,
            'must be a non-negative integer',
          ),
        );
      validateResponse(limited.limitResponse ?? {}, 'spec.limited.limitResponse', errors);
      break;
    default:
      errors.push(notSupported('spec.type', type ?? '', ['Exempt', 'Limited']));
  }
}

function validateResponse(
  {
    type,
    queuing,
  }: {
    readonly type?: string;
    readonly queuing?: { queues?: number; handSize?: number; queueLengthLimit?: number };
  },
  path: string,
  errors: FieldError[],
): void {
  if (type === 'Reject') {
    if (queuing)
      errors.push(forbidden(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited'));
    return;
  }
  if (type !== 'Queue') {
    errors.push(notSupported(`${path}.type`, type ?? '', ['Queue', 'Reject']));
    return;
  }
  if (!queuing) {
    errors.push(required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited'));
    return;
  }
  for (const field of ['queues', 'handSize', 'queueLengthLimit'] as const)
    if ((queuing[field] ?? 0) <= 0)
      errors.push(invalid(`${path}.queuing.${field}`, queuing[field] ?? 0, 'must be positive'));
  if ((queuing.handSize ?? 0) > (queuing.queues ?? 0))
    errors.push(
      invalid(
        `${path}.queuing.handSize`,
        queuing.handSize,
        `should not be greater than queues (${queuing.queues ?? 0})`,
      ),
    );
}
