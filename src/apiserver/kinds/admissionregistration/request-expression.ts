import { ANY_VALUE, AUTHORIZER_TYPE, compileExpression, objectOf } from '../../cel/index.js';
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
  /** Names that are known before. @default none */
  readonly variables?: readonly string[];
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
  { variables = [], hasAuthorizer = true, hasLiterals = false, types }: RequestDeclarations = {},
): RequestExpression {
  const fields = Object.fromEntries(variables.map((name): [string, CelType] => [name, ANY_VALUE]));
  const { problem, program } = compileExpression(text, {
    hasLiterals,
    variables: {
      object: 'dyn',
      oldObject: 'dyn',
      request: 'dyn',
      params: 'dyn',
      namespaceObject: 'dyn',
      ...types,
      variables: objectOf('variables', fields),
      ...(hasAuthorizer && { authorizer: { kind: 'value', name: AUTHORIZER_TYPE } }),
    },
  });
  return program ? { text, program } : { text, problem };
}

/**
 * An expression that cannot be compiled, or gives something else than is wanted, is refused. What only a value can tell is
 * left to the request.
 * @param wanted `bool`, `string`; undefined where anything will do
 */
export function validateExpression(
  { problem, program, text }: RequestExpression,
  path: string,
  wanted: string | undefined,
  errors: FieldError[],
): void {
  if (problem !== undefined) errors.push(invalid(path, text, `compilation failed: ${problem}`));
  else if (wanted !== undefined && program && program.resultType !== 'dyn' && program.resultType !== wanted)
    errors.push(invalid(path, text, `must evaluate to ${wanted}`));
}
