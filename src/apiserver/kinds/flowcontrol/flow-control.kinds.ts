import { findCondition, checkDns1123Label, checkDns1123Subdomain } from '@rollkeeper/machinery/kubernetes';
import type {
  FlowSchema as IFlowSchema,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from '@rollkeeper/machinery/types/flowcontrol-v1';
import type { Decoded, DecodedObject, ObjectMeta } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { ALL_BUT_STATUS } from '../kind-definition.js';
import type { FieldError } from '../kind-definition.js';
import { duplicate, forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';
import { repeatedPlaces } from '../validation/repeated-places.js';

type FlowSchema = DecodedObject<IFlowSchema>;
type Level = DecodedObject<PriorityLevelConfiguration>;

const GROUP = 'flowcontrol.apiserver.k8s.io';
const MAX_PRECEDENCE = 10_000;
const MAX_QUEUES = 10_000_000;
/** The number of bits in the hash by which a request gets its hand of queues. */
const MAX_HASH_BITS = 60;

/** Source: ValidateFlowSchema in pkg/apis/flowcontrol/validation/validation.go. */
export const FLOW_SCHEMA_KIND = defineKind<FlowSchema>({
  type: { group: GROUP, version: 'v1', resource: 'flowschemas', kind: 'FlowSchema', namespaced: false },
  schema: 'io.k8s.api.flowcontrol.v1.FlowSchema',
  ownershipFrom: 'creation',
  keptWithStatus: ALL_BUT_STATUS,
  hasStatus: true,
  generationOf: ({ spec }) => spec,
  ...printed<FlowSchema>(
    NAME,
    shown('PriorityLevel', ({ spec }) => spec?.priorityLevelConfiguration?.name ?? ''),
    shown('MatchingPrecedence', ({ spec }) => spec?.matchingPrecedence ?? 0),
    shown('DistinguisherMethod', ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>'),
    AGE,
    shown('MissingPL', ({ status }) => findCondition(status?.conditions, 'Dangling')?.status ?? '?'),
  ),
  applyDefaults({ spec }) {
    if (spec) spec.matchingPrecedence ||= 1000;
  },
  validate: validateFlowSchema,
  validateUpdate(object, _old, subresource, errors) {
    if (subresource === 'status') validateConditionTypes(object.status?.conditions ?? [], errors);
    else validateFlowSchema(object, errors);
  },
});

function validateFlowSchema({ spec }: Readonly<FlowSchema>, errors: FieldError[]): void {
  const { matchingPrecedence = 0, distinguisherMethod, priorityLevelConfiguration, rules } = spec ?? {};
  if (matchingPrecedence <= 0)
    errors.push(invalid('spec.matchingPrecedence', matchingPrecedence, 'must be a positive value'));
  if (matchingPrecedence > MAX_PRECEDENCE)
    errors.push(
      invalid('spec.matchingPrecedence', matchingPrecedence, `must not be greater than ${MAX_PRECEDENCE}`),
    );
  const method = distinguisherMethod?.type;
  if (distinguisherMethod && method !== 'ByUser' && method !== 'ByNamespace')
    errors.push(
      notSupported('spec.distinguisherMethod.type', { Type: method ?? '' }, ['ByNamespace', 'ByUser']),
    );
  const level = priorityLevelConfiguration?.name;
  if (!level)
    errors.push(required('spec.priorityLevelConfiguration.name', 'must reference a priority level'));
  else validateSyntax(level, checkDns1123Subdomain, 'spec.priorityLevelConfiguration.name', errors);
  rules?.forEach((rule, index) => validateFlowRule(rule, `spec.rules[${index}]`, errors));
}

function validateConditionTypes(
  conditions: readonly { readonly type?: string }[],
  errors: FieldError[],
): void {
  const repeated = repeatedPlaces(conditions.map(({ type }) => type));
  conditions.forEach(({ type = '' }, index) => {
    const path = `status.conditions[${index}].type`;
    if (repeated.has(index)) errors.push(duplicate(path, type));
    if (type === '') errors.push(required(path));
  });
}

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
  subjects.forEach((subject, index) => validateSubject(subject, `${path}.subjects[${index}]`, errors));
  if (resourceRules.length + nonResourceRules.length === 0)
    errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  resourceRules.forEach((rule, index) =>
    validateResourceRule(rule, `${path}.resourceRules[${index}]`, errors),
  );
  nonResourceRules.forEach((rule, index) =>
    validateNonResourceRule(rule, `${path}.nonResourceRules[${index}]`, errors),
  );
}

type RuleParts = Decoded<PolicyRulesWithSubjects>;
type Part<Name extends keyof RuleParts> = NonNullable<RuleParts[Name]>[number];

function validateSubject(subject: Part<'subjects'>, at: string, errors: FieldError[]): void {
  const { kind = '' } = subject;
  const own = SUBJECT_FIELDS.get(kind);
  if (own === undefined) errors.push(notSupported(`${at}.kind`, kind, [...SUBJECT_FIELDS.keys()].sort()));
  else if (!subject[own])
    errors.push(required(`${at}.${own}`, `${own} is required when subject kind is '${kind}'`));
  else if (!subject[own].name) errors.push(required(`${at}.${own}.name`));
  if (own !== undefined)
    for (const [other, field] of SUBJECT_FIELDS)
      if (other !== kind && subject[field])
        errors.push(forbidden(`${at}.${field}`, `${field} is forbidden when subject kind is not '${other}'`));
  const account = subject.serviceAccount;
  if (kind !== 'ServiceAccount' || !account) return;
  if (account.name && account.name !== ALL)
    validateSyntax(account.name, checkDns1123Subdomain, `${at}.serviceAccount.name`, errors);
  if (!account.namespace)
    errors.push(required(`${at}.serviceAccount.namespace`, 'must specify namespace for service account'));
  else validateSyntax(account.namespace, checkDns1123Label, `${at}.serviceAccount.namespace`, errors);
}

function validateResourceRule(rule: Part<'resourceRules'>, at: string, errors: FieldError[]): void {
  const mustHave = (members: readonly string[] | undefined, name: string, what: string): void =>
    validateMembers(
      members ?? [],
      `resource rules must supply at least one ${what}`,
      `${at}.${name}`,
      errors,
    );
  validateVerbs(rule.verbs ?? [], `${at}.verbs`, errors);
  mustHave(rule.apiGroups, 'apiGroups', 'api group');
  mustHave(rule.resources, 'resources', 'resource');
  validateNamespaces(rule.namespaces ?? [], `${at}.namespaces`, errors);
  if (!rule.namespaces?.length && !rule.clusterScope)
    errors.push(
      required(
        `${at}.namespaces`,
        'resource rules that are not cluster scoped must supply at least one namespace',
      ),
    );
}

function validateNonResourceRule(rule: Part<'nonResourceRules'>, at: string, errors: FieldError[]): void {
  validateVerbs(rule.verbs ?? [], `${at}.verbs`, errors);
  const { nonResourceURLs: urls = [] } = rule;
  validateMembers(urls, 'nonResourceURLs must contain at least one value', `${at}.nonResourceURLs`, errors);
  if (urls.includes(ALL)) return;
  urls.forEach((url, place) => {
    const problem = problemOfPath(url);
    if (problem !== undefined) errors.push(invalid(`${at}.nonResourceURLs[${place}]`, url, problem));
  });
}

/** Source: ValidateNonResourceURLPath. */
function problemOfPath(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (path === '/') return undefined;
  if (!path.startsWith('/')) return 'must start with slash';
  if (path.includes(' ')) return 'must not contain white-space';
  if (path.includes('//')) return 'must not contain double slash';
  const stars = path.split('*').length - 1;
  return stars > 1 || (stars === 1 && !path.endsWith('/*'))
    ? 'wildcard can only do suffix matching'
    : undefined;
}

const ALL = '*';
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

function validateVerbs(verbs: readonly string[], path: string, errors: FieldError[]): void {
  validateMembers(verbs, 'verbs must contain at least one value', path, errors);
  if (!verbs.includes(ALL) && verbs.some((verb) => !VERBS.includes(verb)))
    errors.push(notSupported(path, verbs, VERBS));
}

/** There has to be something, and nothing beside `*`. */
function validateMembers(
  members: readonly string[],
  missing: string,
  path: string,
  errors: FieldError[],
): void {
  if (members.length === 0) errors.push(required(path, missing));
  else if (members.length > 1 && members.includes(ALL))
    errors.push(invalid(path, members, "if '*' is present, must not specify other values"));
}

function validateNamespaces(namespaces: readonly string[], path: string, errors: FieldError[]): void {
  if (namespaces.length > 1 && namespaces.includes(ALL))
    errors.push(invalid(path, namespaces, "if '*' is present, must not specify other namespaces"));
  namespaces.forEach((namespace, index) => {
    for (const problem of namespace === ALL ? [] : checkDns1123Label(namespace))
      errors.push(
        invalid(
          `${path}[${index}]`,
          namespace,
          `each member of this list must be '*' or a DNS-1123 label; ${problem}`,
        ),
      );
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
  ownershipFrom: 'creation',
  keptWithStatus: ALL_BUT_STATUS,
  hasStatus: true,
  generationOf: ({ spec }) => spec,
  ...printed<Level>(
    NAME,
    shown('Type', ({ spec }) => spec?.type ?? ''),
    shown('NominalConcurrencyShares', ({ spec }) =>
      String(spec?.limited?.nominalConcurrencyShares ?? '<none>'),
    ),
    shown('Queues', ({ spec }) => String(spec?.limited?.limitResponse?.queuing?.queues ?? '<none>')),
    shown('HandSize', ({ spec }) => String(spec?.limited?.limitResponse?.queuing?.handSize ?? '<none>')),
    shown('QueueLengthLimit', ({ spec }) =>
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
      if ((limited.lendablePercent ?? 0) < 0 || (limited.lendablePercent ?? 0) > 100)
        errors.push(
          invalid(
            'spec.limited.lendablePercent',
            limited.lendablePercent,
            'must be between 0 and 100, inclusive',
          ),
        );
      if ((limited.borrowingLimitPercent ?? 0) < 0)
        errors.push(
          invalid(
            'spec.limited.borrowingLimitPercent',
            limited.borrowingLimitPercent,
            'if specified, must be a non-negative integer',
          ),
        );
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
  if ((queuing.queues ?? 0) > MAX_QUEUES)
    errors.push(invalid(`${path}.queuing.queues`, queuing.queues, `must not be greater than ${MAX_QUEUES}`));
  if ((queuing.handSize ?? 0) > (queuing.queues ?? 0))
    errors.push(
      invalid(
        `${path}.queuing.handSize`,
        queuing.handSize,
        `should not be greater than queues (${queuing.queues ?? 0})`,
      ),
    );
  else if (
    (queuing.handSize ?? 0) > 0 &&
    Math.ceil(Math.log2(queuing.queues ?? 0) * (queuing.handSize ?? 0)) > MAX_HASH_BITS
  )
    errors.push(
      invalid(
        `${path}.queuing.handSize`,
        queuing.handSize,
        `required entropy bits of deckSize ${queuing.queues} and handSize ${queuing.handSize} should not be greater than ${MAX_HASH_BITS}`,
      ),
    );
}
