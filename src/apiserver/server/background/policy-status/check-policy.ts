import type {
  RuleWithOperations,
  ValidatingAdmissionPolicySpec,
} from '@rollkeeper/machinery/types/admissionregistration-v1';
import { compileRequestExpression, compileVariables } from '../../../kinds/index.js';
import type { KindDefinition, KindRegistry } from '../../../kinds/index.js';
import { SchemaTypes } from './schema-type.js';
import type { SchemaRegistry } from '../../../schema/index.js';

interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

const MAX_KINDS = 10;

/**
 * Checks the rules of a policy against the types of the kinds that it names: problems are reported, and do not change
 * the policy's effect. Source: typechecking.go in pkg/admission/plugin/policy/validating of apiserver.
 */
export function checkPolicy(
  spec: Readonly<ValidatingAdmissionPolicySpec>,
  kinds: KindRegistry,
  schemas: SchemaRegistry,
): ExpressionWarning[] {
  const types = new SchemaTypes(schemas);
  const { apiVersion = '', kind = '' } = spec.paramKind ?? {};
  const paramKind = kinds.findByKind(apiVersion, kind);
  const params = paramKind && { params: types.of(paramKind.schema) };
  const checked = kindsOf(spec.matchConstraints?.resourceRules ?? [], kinds).map((one) => {
    const object = types.of(one.schema);
    const known = { types: { object, oldObject: object, ...params } };
    return { kind: one, known: { ...known, variables: compileVariables(spec.variables ?? [], known).type } };
  });
  const check = (fieldRef: string, expression: string | undefined): ExpressionWarning[] => {
    if (!expression) return [];
    const problems = checked.flatMap(({ kind: one, known }) => {
      const { problem } = compileRequestExpression(expression, known);
      return problem === undefined ? [] : [`${nameOf(one)}: compilation failed: ${problem}\n`];
    });
    return problems.length === 0 ? [] : [{ fieldRef, warning: problems.join('\n') }];
  };
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, index) => [
    ...check(`spec.validations[${index}].expression`, expression),
    ...check(`spec.validations[${index}].messageExpression`, messageExpression),
  ]);
}

/**
 * The kinds that rules name. A rule that means groups or versions by `*` is too much to check, and what it means of resources by `*`,
 * or below them, is left out.
 */
function kindsOf(rules: readonly RuleWithOperations[], kinds: KindRegistry): readonly KindDefinition[] {
  const byResource = groupedByResource(kinds);
  const found = new Map<string, KindDefinition>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if ([...apiGroups, ...apiVersions].some((word) => word.includes('*'))) continue;
    const [groups, versions] = [new Set(apiGroups), new Set(apiVersions)];
    const named = [...new Set(resources)]
      .flatMap((resource) => byResource.get(resource) ?? [])
      .filter(({ type }) => groups.has(type.group) && versions.has(type.version))
      .sort((a, b) => byText(resourceNameOf(a), resourceNameOf(b)));
    for (const kind of named.slice(0, MAX_KINDS)) found.set(nameOf(kind), kind);
    if (named.length >= MAX_KINDS) break;
  }
  return [...found.keys()].sort(byText).map((name) => found.get(name)!);
}

function groupedByResource({ kinds }: KindRegistry): ReadonlyMap<string, readonly KindDefinition[]> {
  const grouped = new Map<string, KindDefinition[]>();
  for (const kind of kinds) {
    const others = grouped.get(kind.type.resource);
    if (others) others.push(kind);
    else grouped.set(kind.type.resource, [kind]);
  }
  return grouped;
}

/** In the order in which groups, versions and resources are sorted. */
function resourceNameOf({ type: { group, resource, version } }: KindDefinition): string {
  return [group, version, resource].join('\0');
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function nameOf({ type: { group, kind, version } }: KindDefinition): string {
  return `${group}/${version}, Kind=${kind}`;
}
