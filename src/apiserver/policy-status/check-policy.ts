import type {
  RuleWithOperations,
  ValidatingAdmissionPolicySpec,
} from '@rollkeeper/machinery/types/admissionregistration-v1';
import { compileRequestExpression } from '../kinds/index.js';
import type { KindDefinition, KindRegistry, RequestTypes } from '../kinds/index.js';
import { SchemaTypes } from './schema-type.js';
import type { SchemaRegistry } from '../schema/index.js';

export interface ExpressionWarning {
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
    return { kind: one, types: { object, oldObject: object, ...params } };
  });
  const check = (fieldRef: string, expression: string | undefined): ExpressionWarning[] => {
    if (!expression) return [];
    const problems = checked.flatMap(({ kind: one, types: declared }) => {
      const problem = problemOf(expression, spec.variables ?? [], declared);
      return problem === undefined ? [] : [`${nameOf(one)}: compilation failed: ${problem}\n`];
    });
    return problems.length === 0 ? [] : [{ fieldRef, warning: problems.join('\n') }];
  };
  return (spec.validations ?? []).flatMap(({ expression, messageExpression }, index) => [
    ...check(`spec.validations[${index}].expression`, expression),
    ...check(`spec.validations[${index}].messageExpression`, messageExpression),
  ]);
}

function problemOf(
  expression: string,
  variables: NonNullable<ValidatingAdmissionPolicySpec['variables']>,
  types: RequestTypes,
): string | undefined {
  const names = variables.map(({ name }) => name);
  return compileRequestExpression(expression, { variables: names, types }).problem;
}

/** The kinds that rules name; what they name by `*` is too much to check. */
function kindsOf(rules: readonly RuleWithOperations[], kinds: KindRegistry): readonly KindDefinition[] {
  const found = new Map<string, KindDefinition>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if ([...apiGroups, ...apiVersions, ...resources].some((word) => word.includes('*'))) continue;
    for (const kind of kinds.kinds) {
      const { group, resource, version } = kind.type;
      const isNamed =
        apiGroups.includes(group) && apiVersions.includes(version) && resources.includes(resource);
      if (isNamed && found.size < MAX_KINDS) found.set(nameOf(kind), kind);
    }
  }
  return [...found.keys()].sort().map((name) => found.get(name)!);
}

function nameOf({ type: { group, kind, version } }: KindDefinition): string {
  return `${group}/${version}, Kind=${kind}`;
}
