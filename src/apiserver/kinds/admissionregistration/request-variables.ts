import { ANY_VALUE } from '../../cel/index.js';
import type { CelObjectType, CelType } from '../../cel/index.js';
import { compileRequestExpression } from './request-expression.js';
import type { RequestDeclarations, RequestExpression } from './request-expression.js';

interface RequestVariable {
  readonly name: string;
  readonly expression: RequestExpression;
}

/** The variables of a policy, each compiled with those before it, and what they are for the expressions after them. */
interface RequestVariables {
  readonly all: readonly RequestVariable[];
  readonly type: CelObjectType;
}

/**
 * A variable has the type that its expression gives. Of one that cannot be compiled anything may be said. The cost is that of the
 * expressions: what is known so far is not copied for each. Source: CompositedCompiler in apiserver/pkg/admission/plugin/cel.
 */
export function compileVariables(
  variables: readonly { readonly name?: string; readonly expression?: string }[],
  declarations: Omit<RequestDeclarations, 'variables'> = {},
): RequestVariables {
  const known = new Map<string, CelType>();
  const type: CelObjectType = {
    kind: 'object',
    name: 'kubernetes.variables',
    field: (key) => {
      const found = known.get(key);
      return found && { key, type: found };
    },
  };
  const all = variables.map(({ name = '', expression: text = '' }) => {
    const expression = compileRequestExpression(text, { ...declarations, variables: type });
    known.set(name, typeOf(expression));
    return { name, expression };
  });
  return { all, type };
}

/** Types that are named outside of the expression as well. Source: convertCelTypeToDeclType, there. */
const NAMED_EVERYWHERE = new Set([
  'bool',
  'bytes',
  'double',
  'google.protobuf.Duration',
  'google.protobuf.Timestamp',
  'int',
  'null',
  'string',
  'uint',
]);

function typeOf({ program }: RequestExpression): CelType {
  return program ? { kind: 'value', name: namedEverywhere(program.resultType) } : ANY_VALUE;
}

/** Lists and maps keep their types; an object of a type that only its expression knows is anything. */
function namedEverywhere(type: string): string {
  const list = parametersOf(type, 'list');
  if (list?.length === 1) return `list<${namedEverywhere(list[0]!)}>`;
  const map = parametersOf(type, 'map');
  if (map?.length === 2) return `map<${map.map(namedEverywhere).join(', ')}>`;
  return NAMED_EVERYWHERE.has(type) ? type : 'dyn';
}

/** @returns undefined for another type than that of the container */
function parametersOf(type: string, container: string): readonly string[] | undefined {
  if (!type.startsWith(`${container}<`) || !type.endsWith('>')) return undefined;
  const inner = type.slice(container.length + 1, -1);
  const parameters: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < inner.length; at++) {
    if (inner[at] === '<') depth++;
    else if (inner[at] === '>') depth--;
    else if (inner[at] === ',' && depth === 0) {
      parameters.push(inner.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...parameters, inner.slice(start).trim()];
}
