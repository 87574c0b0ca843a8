import { ANY_VALUE, AUTHORIZER_TYPE, compileExpression, objectOf, shownType } from '../../cel/index.js';
import type { CelProgram, CelType } from '../../cel/index.js';
import type { FieldError } from '../kind-definition.js';
import { invalid } from '../validation/field-errors.js';

/** An expression about a request, or why it is none. */
export interface RequestExpression {
  readonly text: string;
  readonly program?: CelProgram;
  readonly problem?: string;
}

export interface RequestDeclarations {
  /** Names that are known before. @default there is no `variables` */
  readonly variables?: readonly string[];
  /** Whether there is `params`. @default true */
  readonly hasParams?: boolean;
  /** Whether there is `authorizer`. @default true */
  readonly hasAuthorizer?: boolean;
  readonly types?: RequestTypes;
  /** Whether it may make objects and patches. @default false */
  readonly hasLiterals?: boolean;
}

/** What is known of the objects. @default nothing */
export interface RequestTypes {
  readonly object?: CelType;
  readonly oldObject?: CelType;
  readonly params?: CelType;
}

export function compileRequestExpression(
  text: string,
  { variables, hasAuthorizer = true, hasLiterals = false, hasParams = true, types }: RequestDeclarations = {},
): RequestExpression {
  const { problem, program } = compileExpression(text, {
    hasLiterals,
    variables: {
      object: 'dyn',
      oldObject: 'dyn',
      request: 'dyn',
      ...(hasParams && { params: 'dyn' }),
      namespaceObject: 'dyn',
      ...types,
      ...(variables && { variables: objectOf('variables', fieldsOf(variables)) }),
      ...(hasAuthorizer && { authorizer: { kind: 'value', name: AUTHORIZER_TYPE } }),
    },
  });
  return program ? { text, program } : { text, problem };
}

function fieldsOf(names: readonly string[]): Record<string, CelType> {
  return Object.fromEntries(names.map((name): [string, CelType] => [name, ANY_VALUE]));
}

/** Whose types a genuine server knows and we do not: what comes of them may be what is wanted. */
const KNOWN_ELSEWHERE = ['namespaceObject', 'request', 'variables'];

/**
 * An expression that cannot be compiled, or gives something else than is wanted, is refused.
 * @param wanted `bool`, `string`; none where any type will do
 */
export function validateExpression(
  { problem, program, text }: RequestExpression,
  path: string,
  wanted: readonly string[],
  errors: FieldError[],
): void {
  if (problem !== undefined) errors.push(invalid(path, text, `compilation failed: ${problem}`));
  if (!program || wanted.length === 0) return;
  const { resultType } = program;
  if (resultType === 'dyn' && KNOWN_ELSEWHERE.some((name) => program.uses(name))) return;
  const given = shownType(resultType);
  if (wanted.includes(given)) return;
  const types = wanted.length === 1 ? wanted[0]! : `one of [${wanted.join(' ')}]`;
  errors.push(invalid(path, text, `must evaluate to ${types} but got ${given}`));
}
