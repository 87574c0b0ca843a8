import type { RuleWithOperations } from '@rollkeeper/machinery/types/admissionregistration-v1';
import {
  isEmptySelector,
  isList,
  isJsonObject,
  tryCompileLabelSelector,
} from '@rollkeeper/machinery/kubernetes';
import type { LabelMatcher, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { Selection } from './webhooks/webhook.js';

const ANY_RULE = {
  apiGroups: ['*'],
  apiVersions: ['*'],
  operations: ['*' as const],
  resources: ['*/*', '*'],
};
type Fields = Readonly<Record<string, unknown>>;

/** No field is known of a value that cannot be read. */
const ANYTHING: Fields = {};

/**
 * The requests that a stored webhook configuration may be for although it cannot be understood: one selection for each
 * of its webhooks that refuses when it fails. A part that cannot be read may match any request.
 */
export function selectionsOfConfiguration(object: unknown): readonly Selection[] {
  const webhooks = fieldsOf(object)?.webhooks;
  if (!isList(webhooks)) return [selectionOf(ANYTHING, 'rules')];
  return webhooks.filter((webhook) => !failsOpen(webhook)).map((webhook) => selectionOf(webhook, 'rules'));
}

/** The same of an admission policy; undefined for one that lets pass what it fails at. */
export function selectionOfPolicy(object: unknown): Selection | undefined {
  const spec = fieldsOf(object)?.spec;
  return failsOpen(spec) ? undefined : selectionOf(fieldsOf(spec)?.matchConstraints, 'resourceRules');
}

/** The same of a binding: which of the requests that its policy is for. */
export function selectionOfBinding(object: unknown): Selection {
  return selectionOf(fieldsOf(fieldsOf(object)?.spec)?.matchResources, 'resourceRules');
}

/** The policy that a binding names; undefined where that cannot be read. */
export function policyNameOf(object: unknown): string | undefined {
  const name = fieldsOf(fieldsOf(object)?.spec)?.policyName;
  return typeof name === 'string' ? name : undefined;
}

function selectionOf(said: unknown, rules: 'rules' | 'resourceRules'): Selection {
  const fields = fieldsOf(said) ?? ANYTHING;
  const namespaces = matcherOf(fields.namespaceSelector);
  const objects = matcherOf(fields.objectSelector);
  return {
    rules: rulesOf(fields[rules]),
    excluded: exclusionsOf(fields.excludeResourceRules),
    isExact: fields.matchPolicy === 'Exact',
    matchesNamespace: namespaces ?? (() => true),
    isForAllNamespaces: namespaces === undefined,
    matchesObject: objects ?? (() => true),
    isForAllObjects: objects === undefined,
  };
}

function failsOpen(said: unknown): boolean {
  return fieldsOf(said)?.failurePolicy === 'Ignore';
}

function rulesOf(value: unknown): readonly RuleWithOperations[] {
  return Array.isArray(value) ? value.map(ruleOf) : [ANY_RULE];
}

/** A rule that cannot be read excludes nothing. */
function exclusionsOf(value: unknown): readonly RuleWithOperations[] {
  return isList(value) ? value.filter(isWholeRule) : [];
}

function isWholeRule(value: unknown): value is RuleWithOperations {
  const { apiGroups, apiVersions, operations, resourceNames, resources, scope } = fieldsOf(value) ?? ANYTHING;
  return (
    [apiGroups, apiVersions, operations, resources].every(areTexts) &&
    (resourceNames === undefined || areTexts(resourceNames)) &&
    (scope === undefined || isScope(scope))
  );
}

function ruleOf(value: unknown): RuleWithOperations {
  const fields = fieldsOf(value) ?? ANYTHING;
  return {
    apiGroups: areTexts(fields.apiGroups) ? fields.apiGroups : ANY_RULE.apiGroups,
    apiVersions: areTexts(fields.apiVersions) ? fields.apiVersions : ANY_RULE.apiVersions,
    // A word that is no operation is that of no request.
    operations: areTexts(fields.operations)
      ? (fields.operations as RuleWithOperations['operations'])
      : ANY_RULE.operations,
    resources: areTexts(fields.resources) ? fields.resources : ANY_RULE.resources,
    ...(areTexts(fields.resourceNames) && { resourceNames: fields.resourceNames }),
    scope: isScope(fields.scope) ? fields.scope : '*',
  };
}

/** @returns undefined where it selects everything, or may */
function matcherOf(value: unknown): LabelMatcher | undefined {
  if (!isSelector(value) || isEmptySelector(value)) return undefined;
  return tryCompileLabelSelector(value);
}

function isSelector(value: unknown): value is LabelSelector {
  const { matchExpressions = [], matchLabels = {} } = fieldsOf(value) ?? { matchLabels: null };
  return (
    areTexts(Object.values(fieldsOf(matchLabels) ?? [null])) &&
    isList(matchExpressions) &&
    matchExpressions.every((expression) => {
      const { key, operator, values = [] } = fieldsOf(expression) ?? ANYTHING;
      return areTexts([key, operator]) && areTexts(values);
    })
  );
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isScope(value: unknown): value is '*' | 'Cluster' | 'Namespaced' {
  return value === '*' || value === 'Cluster' || value === 'Namespaced';
}

function fieldsOf(value: unknown): Fields | undefined {
  return isJsonObject(value) ? value : undefined;
}
