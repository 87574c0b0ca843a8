import { AUTHORIZER_TYPE, compileExpression, shownType, listOf, mapOf, objectOf } from '../../cel/index.js';
import type { CelProgram, CelType } from '../../cel/index.js';
import type { FieldError } from '../kind-definition.js';
import { invalid } from '../validation/field-errors.js';

const KIND = objectOf('kubernetes.GroupVersionKind', { group: 'string', version: 'string', kind: 'string' });
const RESOURCE = objectOf('kubernetes.GroupVersionResource', {
  group: 'string',
  version: 'string',
  resource: 'string',
});
const USER = objectOf('kubernetes.UserInfo', {
  username: 'string',
  uid: 'string',
  groups: listOf('string'),
  extra: mapOf(listOf('string')),
});

/** The type of a request in expressions. Source: BuildRequestType in apiserver/pkg/admission/plugin/cel. */
const REQUEST_TYPE: CelType = objectOf('kubernetes.AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: 'string',
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: 'string',
  name: 'string',
  namespace: 'string',
  operation: 'string',
  userInfo: USER,
  dryRun: 'bool',
  options: 'dyn',
});

const CONDITION = objectOf('kubernetes.NamespaceCondition', {
  status: 'string',
  type: 'string',
  lastTransitionTime: 'timestamp',
  message: 'string',
  reason: 'string',
});
const METADATA = objectOf('kubernetes.NamespaceMetadata', {
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  labels: mapOf('string'),
  annotations: mapOf('string'),
  UID: 'string',
  creationTimestamp: 'timestamp',
  deletionGracePeriodSeconds: 'int',
  deletionTimestamp: 'timestamp',
  generation: 'int',
  resourceVersion: 'string',
  finalizers: listOf('string'),
});

/** The same of its Namespace, whose other fields are out of reach. Source: BuildNamespaceType, there. */
const NAMESPACE_TYPE: CelType = objectOf('kubernetes.Namespace', {
  metadata: METADATA,
  spec: objectOf('kubernetes.NamespaceSpec', { finalizers: listOf('string') }),
  status: objectOf('kubernetes.NamespaceStatus', { conditions: listOf(CONDITION), phase: 'string' }),
});

/** An expression about a request, or why it is none. */
export interface RequestExpression {
  readonly text: string;
  readonly program?: CelProgram;
  readonly problem?: string;
}

export interface RequestDeclarations {
  /** The type of `variables`. @default there is none */
  readonly variables?: CelType;
  /** Whether there is `params`. @default true */
  readonly hasParams?: boolean;
  /** Whether there is `authorizer`. @default true */
  readonly hasAuthorizer?: boolean;
  readonly types?: RequestTypes;
  /** Whether it may make objects and patches. @default false */
  readonly hasLiterals?: boolean;
}

/** The types of the objects. @default nothing */
interface RequestTypes {
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
      request: REQUEST_TYPE,
      ...(hasParams && { params: 'dyn' }),
      namespaceObject: NAMESPACE_TYPE,
      ...types,
      ...(variables && { variables }),
      ...(hasAuthorizer && { authorizer: { kind: 'value', name: AUTHORIZER_TYPE } }),
    },
  });
  return program ? { text, program } : { text, problem };
}

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
  const given = shownType(resultType);
  if (wanted.includes(given)) return;
  const types = wanted.length === 1 ? wanted[0]! : `one of [${wanted.join(' ')}]`;
  errors.push(invalid(path, text, `must evaluate to ${types} but got ${given}`));
}
