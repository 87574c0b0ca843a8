import { subresourceFacts } from '../discovery/index.js';
import type { SubresourceFacts } from '../discovery/index.js';
import { isDefinedByUsers } from '../../kinds/index.js';
import type { KindDefinition } from '../../kinds/index.js';
import { patchMediaTypes } from '../../schema/patch/index.js';
import {
  ANY_TYPE,
  BUILT_IN_TYPES,
  DELETE_OPTIONS,
  PATCH_BODY,
  STATUS,
  STREAMED_TYPES,
  WATCH_EVENT,
  operationOf,
  pathOf,
  rootOf,
} from './operations.js';
import type { Method, ObjectOperations, Operation, OperationFacts, PathOperations } from './operations.js';
import { capital } from './operation-id.js';
import {
  CONNECTIONS,
  DELETE,
  DELETE_COLLECTION,
  GET_CUSTOM,
  LIST,
  LOG,
  PATCH,
  PATH,
  WRITE,
  nameOf,
} from './parameters.js';
import type { Parameter } from './parameters.js';

/** Methods of subresources that are connections. */
const CONNECT: Readonly<Record<string, readonly Method[]>> = {
  attach: ['get', 'post'],
  exec: ['get', 'post'],
  portforward: ['get', 'post'],
  proxy: ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'],
};

/** Bodies of subresources that take another kind than their own. */
const BODIES: Readonly<Record<string, string>> = {
  binding: 'io.k8s.api.core.v1.Binding',
  eviction: 'io.k8s.api.policy.v1.Eviction',
  scale: 'io.k8s.api.autoscaling.v1.Scale',
  token: 'io.k8s.api.authentication.v1.TokenRequest',
};

/** `a Pod`, `an Eviction`. Source: GetArticleForNoun of apiserver. */
export function withArticle(kind: string): string {
  const isPlural = kind.endsWith('s') && !kind.endsWith('ss');
  if (isPlural) return kind;
  return `${/^[AEIOUaeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

/** Every path at which the objects of a stored kind are found. */
export function pathsOfKind(kind: KindDefinition): PathOperations[] {
  const { type } = kind;
  const root = rootOf(type);
  const scope = type.namespaced ? '/namespaces/{namespace}' : '';
  const collection = `${root}${scope}/${type.resource}`;
  const object = `${collection}/{name}`;
  const of = { type, schema: kind.schema, isCustom: isDefinedByUsers(kind) };
  const make = (facts: OperationFacts): Operation => operationOf(of, facts);
  const across = type.namespaced ? [pathOf(`${root}/${type.resource}`, [make(listing(of, true))])] : [];
  return [
    ...across,
    pathOf(collection, onCollection(kind, of).map(make)),
    pathOf(object, onObject(kind, of).map(make)),
    ...kind.subresources.flatMap((subresource) => subresourcePaths(kind, of, object, subresource)),
    ...(of.isCustom ? [] : watchPaths(of, root, scope)),
  ];
}

function listing({ isCustom, schema, type }: ObjectOperations, isAcross: boolean): OperationFacts {
  return {
    ...{ method: 'get', action: 'list', codes: [200], answer: `${schema}List`, parameters: LIST, isAcross },
    description: `${isCustom ? 'list' : 'list or watch'} objects of kind ${type.kind}`,
    suffix: isAcross ? 'ForAllNamespaces' : '',
    ...(!isCustom && { produces: STREAMED_TYPES }),
  };
}

function onCollection({ type }: KindDefinition, of: ObjectOperations): OperationFacts[] {
  const { kind } = type;
  const body = { schema: DELETE_OPTIONS, isRequired: false };
  const deletion: OperationFacts = {
    ...{ method: 'delete', action: 'deletecollection', verb: 'delete', prefix: 'Collection' },
    ...{ description: `delete collection of ${kind}`, codes: [200], answer: STATUS },
    ...(of.isCustom ? { parameters: LIST } : { parameters: DELETE_COLLECTION, body }),
  };
  return [
    listing(of, false),
    {
      ...{ method: 'post', action: 'post', verb: 'create', codes: [200, 201, 202], parameters: WRITE },
      description: `create ${withArticle(kind)}`,
      body: { schema: of.schema, isRequired: true },
    },
    ...(kind === 'Namespace' && type.group === '' ? [] : [deletion]),
  ];
}

function onObject(kind: KindDefinition, of: ObjectOperations): OperationFacts[] {
  const name = nameOf(of.type.kind);
  return [
    ...changes(kind, of, { suffix: '', schema: of.schema, what: 'the specified ' }),
    {
      ...{ method: 'delete', action: 'delete', codes: [200, 202], parameters: [name, ...DELETE] },
      description: `delete ${withArticle(of.type.kind)}`,
      body: { schema: DELETE_OPTIONS, isRequired: false },
      answer: kind.answersDeleted ? of.schema : STATUS,
    },
  ];
}

interface Changed {
  readonly suffix: string;
  readonly schema: string;
  readonly what: string;
  readonly gvk?: OperationFacts['gvk'];
  /** @default all three */
  readonly verbs?: readonly string[];
}

/** How an object, or a part of it, is read and changed. */
function changes(
  kind: KindDefinition,
  { isCustom, type }: ObjectOperations,
  { gvk, schema, suffix, verbs = ['get', 'update', 'patch'], what }: Changed,
): OperationFacts[] {
  const name = nameOf(gvk?.kind ?? type.kind);
  const common = { suffix, answer: schema, ...(gvk && { gvk }) };
  const body = { schema, isRequired: true };
  const all: Readonly<Record<string, OperationFacts>> = {
    get: {
      ...{ ...common, method: 'get', action: 'get', verb: 'read', codes: [200] },
      description: `read ${what}${type.kind}`,
      parameters: [name, ...(isCustom ? GET_CUSTOM : [])],
    },
    update: {
      ...{ ...common, method: 'put', action: 'put', verb: 'replace', codes: [200, 201], body },
      description: `replace ${what}${type.kind}`,
      parameters: [name, ...WRITE],
    },
    patch: {
      ...{ ...common, method: 'patch', action: 'patch', codes: isCustom ? [200] : [200, 201] },
      description: `partially update ${what}${type.kind}`,
      parameters: [name, ...PATCH],
      body: { schema: PATCH_BODY, isRequired: true },
      consumes: patchMediaTypes(kind),
    },
  };
  return verbs.flatMap((verb) => all[verb] ?? []);
}

function subresourcePaths(
  kind: KindDefinition,
  of: ObjectOperations,
  object: string,
  subresource: string,
): PathOperations[] {
  const facts = subresourceFacts(kind, subresource);
  if (!facts) return [];
  const make = (operation: OperationFacts): Operation => operationOf(of, operation);
  const path = `${object}/${subresource}`;
  const suffix = capital(subresource);
  if (CONNECT[subresource]) return connectionPaths(of, facts, path, subresource);
  if (subresource === 'log') return [pathOf(path, [make(logs(of))])];
  const gvk = of.isCustom ? undefined : gvkOf(facts);
  const schema = BODIES[subresource] ?? of.schema;
  if (facts.verbs.includes('create'))
    return [pathOf(path, [make(creation(of, { facts, schema, subresource }))])];
  const what = `${subresource} of the specified `;
  return [
    pathOf(
      path,
      changes(kind, of, { suffix, schema, what, verbs: inOrder(facts.verbs), ...(gvk && { gvk }) }).map(make),
    ),
  ];
}

function inOrder(verbs: readonly string[]): string[] {
  return ['get', 'update', 'patch'].filter((verb) => verbs.includes(verb));
}

function gvkOf({ group, kind, version }: SubresourceFacts): NonNullable<OperationFacts['gvk']> {
  return { group, version, kind };
}

/** The operation of a subresource on an object that is there: `binding`, `eviction`, `token`. */
function creation(
  { type }: ObjectOperations,
  of: { readonly facts: SubresourceFacts; readonly schema: string; readonly subresource: string },
): OperationFacts {
  const { facts, schema, subresource } = of;
  return {
    ...{ method: 'post', action: 'post', verb: 'create', codes: [200, 201, 202], answer: schema },
    description: `create ${subresource} of ${withArticle(type.kind)}`,
    suffix: capital(subresource),
    gvk: gvkOf(facts),
    parameters: [nameOf(facts.kind), ...WRITE],
    body: { schema, isRequired: true },
  };
}

function logs({ type }: ObjectOperations): OperationFacts {
  return {
    ...{ method: 'get', action: 'get', verb: 'read', suffix: 'Log', codes: [200], answer: null },
    description: `read log of the specified ${type.kind}`,
    parameters: [nameOf(type.kind), ...LOG],
    produces: ['text/plain', ...BUILT_IN_TYPES],
  };
}

function connectionPaths(
  of: ObjectOperations,
  facts: SubresourceFacts,
  path: string,
  subresource: string,
): PathOperations[] {
  const methods = CONNECT[subresource] ?? [];
  const at = (where: string, suffix: string, more: readonly Parameter[]): PathOperations =>
    pathOf(
      where,
      methods.map((method) =>
        operationOf(of, {
          ...{ method, action: 'connect', prefix: capital(method), codes: [200], answer: null },
          description: `connect ${method.toUpperCase()} requests to ${subresource} of ${of.type.kind}`,
          suffix: `${capital(subresource)}${suffix}`,
          gvk: gvkOf(facts),
          parameters: [nameOf(facts.kind), ...more, ...(CONNECTIONS[facts.kind] ?? [])],
          ...{ consumes: ANY_TYPE, produces: ANY_TYPE, isPretty: false },
        }),
      ),
    );
  const below = subresource === 'proxy' ? [at(`${path}/{path}`, 'WithPath', [PATH])] : [];
  return [at(path, '', []), ...below];
}

/** The old way to watch. */
function watchPaths(of: ObjectOperations, root: string, scope: string): PathOperations[] {
  const { kind, namespaced, resource } = of.type;
  const common = { method: 'get', verb: 'watch', codes: [200], answer: WATCH_EVENT } as const;
  const list = (isAcross: boolean): OperationFacts => ({
    ...{ ...common, action: 'watchlist', isAcross, parameters: LIST, produces: STREAMED_TYPES },
    description: `watch individual changes to a list of ${kind}. deprecated: use the 'watch' parameter with a list operation instead.`,
    suffix: isAcross ? 'ListForAllNamespaces' : 'List',
  });
  const one: OperationFacts = {
    ...{ ...common, action: 'watch', produces: STREAMED_TYPES, parameters: [nameOf(kind), ...LIST] },
    description: `watch changes to an object of kind ${kind}. deprecated: use the 'watch' parameter with a list operation instead, filtered to a single item with the 'fieldSelector' parameter.`,
  };
  const at = `${root}/watch${scope}/${resource}`;
  return [
    ...(namespaced ? [pathOf(`${root}/watch/${resource}`, [operationOf(of, list(true))])] : []),
    pathOf(at, [operationOf(of, list(false))]),
    pathOf(`${at}/{name}`, [operationOf(of, one)]),
  ];
}
