import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { operationName } from './operation-id.js';
import type { OperationName } from './operation-id.js';
import { NAMESPACE, PRETTY } from './parameters.js';
import type { Parameter } from './parameters.js';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
export const STATUS = `${META}.Status`;
export const PATCH_BODY = `${META}.Patch`;
export const DELETE_OPTIONS = `${META}.DeleteOptions`;
export const WATCH_EVENT = `${META}.WatchEvent`;

const JSON_AND_YAML: readonly string[] = ['application/json', 'application/yaml'];
export const BUILT_IN_TYPES: readonly string[] = [...JSON_AND_YAML, 'application/vnd.kubernetes.protobuf'];
export const STREAMED_TYPES: readonly string[] = [
  ...BUILT_IN_TYPES,
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];
export const ANY_TYPE: readonly string[] = ['*/*'];

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

/** The kind of object that an operation is about. */
type GroupVersionKind = Readonly<Record<'group' | 'version' | 'kind', string>>;

export interface Answer {
  readonly description: string;
  /** Name of the schema of what is answered; null for a text, absent where nothing is said about it. */
  readonly schema?: string | null;
}

/** One operation, before it takes the form of version 2 or 3. */
export interface Operation extends OperationName {
  readonly method: Method;
  readonly description: string;
  /** Absent for what is about no kind. */
  readonly action?: string;
  readonly gvk?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly schema: string; readonly isRequired: boolean };
  /** Media types. @default none are named */
  readonly consumes?: readonly string[];
  readonly produces: readonly string[];
  /** By status code. */
  readonly answers: Readonly<Record<string, Answer>>;
}

/** A path and what can be done there. */
export interface PathOperations {
  readonly path: string;
  /** The parameters of all its operations. */
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

/** A path; parameters that all its operations have are the path's. */
export function pathOf(path: string, operations: readonly Operation[]): PathOperations {
  const [first, ...others] = operations;
  const common = (first?.parameters ?? []).filter((one) =>
    others.every(({ parameters }) => parameters.some((other) => isSame(one, other))),
  );
  return {
    path,
    parameters: sorted(common),
    operations: operations.map((operation) => ({
      ...operation,
      parameters: sorted(operation.parameters.filter((one) => !common.some((other) => isSame(one, other)))),
    })),
  };
}

/** As the genuine builder has it, which takes parameters of one name and place for one. */
function isSame(one: Parameter, other: Parameter): boolean {
  return one.name === other.name && one.in === other.in;
}

function sorted(parameters: readonly Parameter[]): Parameter[] {
  return [...parameters].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** `/api/v1`, `/apis/apps/v1` */
export function rootOf(type: Pick<ResourceType, 'group' | 'version'>): string {
  return type.group === '' ? `/api/${type.version}` : `/apis/${apiVersionOf(type)}`;
}

/** The facts that operations on the objects of a kind have in common. */
export interface ObjectOperations {
  readonly type: ResourceType;
  /** Name of the schema of its objects. */
  readonly schema: string;
  readonly isCustom: boolean;
}

/** The place of an operation, and how it differs from the others of its kind. */
export interface OperationFacts {
  readonly method: Method;
  /** Its first word in the operation's name. @default the action */
  readonly verb?: string;
  readonly action: string;
  /** `read the specified `, for example; the kind follows. */
  readonly description: string;
  /** The part of the name after the kind. @default nothing */
  readonly suffix?: string;
  /** The part of the name before the kind. @default nothing */
  readonly prefix?: string;
  /** The operation is about all namespaces. @default false */
  readonly isAcross?: boolean;
  /** @default that of the objects */
  readonly gvk?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  readonly body?: Operation['body'];
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
  /** Codes of its answers and the schema that they all have. */
  readonly codes: readonly number[];
  /** @default that of the objects; null for a text */
  readonly answer?: string | null;
  /** @default true */
  readonly isPretty?: boolean;
}

const REASONS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

export function operationOf(of: ObjectOperations, facts: OperationFacts): Operation {
  const { group, kind, namespaced, version } = of.type;
  const { action, answer = of.schema, isAcross = false, prefix = '', suffix = '', verb = action } = facts;
  const isInNamespace = namespaced && !isAcross;
  const own = of.isCustom ? JSON_AND_YAML : BUILT_IN_TYPES;
  return {
    ...operationName(verb, rootOf(of.type), `${prefix}${isInNamespace ? 'Namespaced' : ''}${kind}${suffix}`),
    method: facts.method,
    description: facts.description,
    action,
    gvk: facts.gvk ?? { group, version, kind },
    parameters: [
      ...(isInNamespace ? [NAMESPACE] : []),
      ...(facts.isPretty === false ? [] : [PRETTY]),
      ...facts.parameters,
    ],
    ...(facts.body && { body: facts.body }),
    consumes: facts.consumes ?? (of.isCustom ? JSON_AND_YAML : ANY_TYPE),
    produces: facts.produces ?? own,
    answers: answersOf(facts.codes, answer),
  };
}

function answersOf(codes: readonly number[], schema: string | null): Record<string, Answer> {
  const answers = codes.map((code): [number, Answer] => [code, { description: REASONS[code] ?? '', schema }]);
  return {
    ...Object.fromEntries(answers),
    '401': { description: 'Unauthorized' },
  };
}
