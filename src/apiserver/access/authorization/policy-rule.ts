import { withoutTrailing } from '@rollkeeper/machinery/text';
import type { PolicyRule as IPolicyRule } from '@rollkeeper/machinery/types/rbac-v1';
import type { AccessAttributes } from '../../cel/library/access-attributes.js';
import { combinedResource } from '../../cel/library/access-attributes.js';

export type PolicyRule = Readonly<IPolicyRule>;

const ALL = '*';

/** Whether a rule allows it. Source: RuleAllows in plugin/pkg/auth/authorizer/rbac, and its helpers in pkg/apis/rbac/v1. */
export function ruleAllows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  if (!hasOrAll(rule.verbs, attributes.verb)) return false;
  if (attributes.path !== undefined) return pathMatches(rule, attributes.path);
  const { group, name, subresource } = attributes;
  return (
    hasOrAll(rule.apiGroups, group) &&
    resourceMatches(rule, combinedResource(attributes), subresource) &&
    (isEmpty(rule.resourceNames) || rule.resourceNames!.includes(name))
  );
}

/** `*` matches all resources and their subresources, `*` before `/scale` that subresource of all. */
function resourceMatches({ resources = [] }: PolicyRule, combined: string, subresource: string): boolean {
  return hasOrAll(resources, combined) || (subresource !== '' && resources.includes(`${ALL}/${subresource}`));
}

function pathMatches({ nonResourceURLs = [] }: PolicyRule, path: string): boolean {
  return nonResourceURLs.some(
    (pattern) =>
      pattern === path || (pattern.endsWith(ALL) && path.startsWith(withoutTrailing(pattern, ALL))),
  );
}

/**
 * The rights in `wanted` that `held` does not cover, one right per rule. A rule of `held` covers a right as a whole or
 * not at all. Source: Covers in k8s.io/component-helpers/auth/rbac/validation.
 */
export function uncovered(wanted: readonly PolicyRule[], held: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap((rule) => {
    if (held.some((one) => coversWhole(one, rule))) return [];
    // Its rights one by one would be the product of its lists. A rule of so many is refused as a whole.
    if (countRights(rule) > MOST_SINGLE_RIGHTS) return [rule];
    return singleRights(rule).filter((right) => !held.some((one) => covers(one, right)));
  });
}

/** Limit of single rights of one rule. Roles written by people have far fewer. */
const MOST_SINGLE_RIGHTS = 5000;

function countRights({
  apiGroups,
  nonResourceURLs,
  resourceNames,
  resources,
  verbs,
}: Partial<PolicyRule>): number {
  const count = (values: readonly string[] | undefined): number => values?.length ?? 0;
  const targets = count(apiGroups) * count(resources) * Math.max(count(resourceNames), 1);
  return (targets + count(nonResourceURLs)) * count(verbs);
}

/** Whether one rule covers all rights of another one. Not so sure where patterns of resources or paths matter. */
function coversWhole(rule: PolicyRule, wanted: PolicyRule): boolean {
  const hasAll = (values: readonly string[] | undefined, others: readonly string[] | undefined): boolean => {
    const known = new Set(values);
    return known.has(ALL) || (others ?? []).every((other) => known.has(other));
  };
  const names = new Set(rule.resourceNames);
  return (
    hasAll(rule.verbs, wanted.verbs) &&
    hasAll(rule.apiGroups, wanted.apiGroups) &&
    hasAll(rule.resources, wanted.resources) &&
    hasAll(rule.nonResourceURLs, wanted.nonResourceURLs) &&
    (names.size === 0 ||
      (!isEmpty(wanted.resourceNames) && wanted.resourceNames!.every((name) => names.has(name))))
  );
}

/** The rights of a rule one by one: one verb on one resource, of one name if it names any, or on one path. */
function singleRights(rule: PolicyRule): PolicyRule[] {
  const {
    apiGroups = [],
    nonResourceURLs = [],
    resourceNames = [],
    resources = [],
    verbs = [],
  }: Partial<PolicyRule> = rule;
  const onResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb): PolicyRule[] => {
        const right = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (resourceNames.length === 0) return [right];
        return resourceNames.map((name) => ({ ...right, resourceNames: [name] }));
      }),
    ),
  );
  const onPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb) => ({ nonResourceURLs: [url], verbs: [verb] })),
  );
  return [...onResources, ...onPaths];
}

function covers(rule: PolicyRule, right: PolicyRule): boolean {
  if (!hasOrAll(rule.verbs, right.verbs[0]!)) return false;
  const [url] = right.nonResourceURLs ?? [];
  if (url !== undefined) return pathMatches(rule, url);
  const [resource = ''] = right.resources ?? [];
  const slash = resource.indexOf('/');
  return (
    hasOrAll(rule.apiGroups, right.apiGroups?.[0] ?? '') &&
    resourceMatches(rule, resource, slash < 0 ? '' : resource.slice(slash + 1)) &&
    (isEmpty(rule.resourceNames) ||
      (!isEmpty(right.resourceNames) && rule.resourceNames!.includes(right.resourceNames![0]!)))
  );
}

/**
 * Rights as refusals show them, a line each, sorted; the verbs of one resource together.
 * Source: CompactRules in pkg/registry/rbac/validation, CompactString in pkg/apis/rbac/v1.
 */
export function describeRights(rights: readonly PolicyRule[]): string {
  const byTarget = new Map<string, PolicyRule>();
  for (const right of rights) {
    const target = ruleText({ ...right, verbs: right.nonResourceURLs ? right.verbs : [] });
    const known = byTarget.get(target);
    if (known) known.verbs.push(...right.verbs);
    else byTarget.set(target, { ...right, verbs: [...right.verbs] });
  }
  const texts = [...byTarget.values()].map(ruleText);
  return [...new Set(texts)].sort().join('\n');
}

function ruleText({ apiGroups, nonResourceURLs, resourceNames, resources, verbs }: PolicyRule): string {
  const parts = [
    ['APIGroups', apiGroups],
    ['Resources', resources],
    ['NonResourceURLs', nonResourceURLs],
    ['ResourceNames', resourceNames],
    ['Verbs', verbs],
  ] as const;
  const shown = parts.flatMap(([name, values]) =>
    isEmpty(values) ? [] : [`${name}:${quotedList(values ?? [])}`],
  );
  return `{${shown.join(', ')}}`;
}

/** A list of texts as Go's `%q` shows it. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;
}

function hasOrAll(values: readonly string[] | undefined, value: string): boolean {
  return values !== undefined && (values.includes(ALL) || values.includes(value));
}

function isEmpty(values: readonly string[] | undefined): boolean {
  return values === undefined || values.length === 0;
}
