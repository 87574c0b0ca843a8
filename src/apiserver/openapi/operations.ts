import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { subresourceFacts } from '../discovery/index.js';
import type { KindDefinition } from '../kinds/index.js';
import { patchMediaTypes } from '../patch/index.js';

/** One operation, before it takes the form of version 2 or 3. */
export interface Operation {
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch';
  readonly id: string;
  readonly action: string;
  readonly gvk: { readonly group: string; readonly version: string; readonly kind: string };
  /** Names of its query parameters. */
  readonly query: readonly string[];
  /** Media types of its body; empty when it has none. */
  readonly consumes: readonly string[];
  /** Schema of what it takes and gives. */
  readonly schema: string;
}

/** A path and what can be done there. */
export interface PathOperations {
  readonly path: string;
  readonly parameters: readonly string[];
  readonly operations: readonly Operation[];
}

const WRITE = ['dryRun', 'fieldManager', 'fieldValidation', 'pretty'];
const READ = ['pretty'];
const LIST = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'timeoutSeconds',
  'watch',
];
const DELETE = ['dryRun', 'gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'];
const BODY = ['application/json', 'application/yaml'];

/** Every path below which the objects of a kind are found. */
export function pathsOf(kind: KindDefinition): PathOperations[] {
  const root = kind.type.group === '' ? `/api/${kind.type.version}` : `/apis/${apiVersionOf(kind.type)}`;
  const scope = kind.type.namespaced ? `${root}/namespaces/{namespace}` : root;
  const inNamespace = kind.type.namespaced ? ['namespace'] : [];
  const collection = `${scope}/${kind.type.resource}`;
  const schema = kind.schema;
  const make = operationMaker(kind);
  return [
    ...(kind.type.namespaced
      ? [
          {
            path: `${root}/${kind.type.resource}`,
            parameters: [],
            operations: [make('get', 'list', 'ForAllNamespaces', LIST, [], `${schema}List`)],
          },
        ]
      : []),
    {
      path: collection,
      parameters: inNamespace,
      operations: [
        make('get', 'list', '', LIST, [], `${schema}List`),
        make('post', 'post', '', WRITE, BODY, schema),
        make('delete', 'deletecollection', 'Collection', [...LIST, ...DELETE], BODY, schema),
      ],
    },
    {
      path: `${collection}/{name}`,
      parameters: [...inNamespace, 'name'],
      operations: [
        make('get', 'get', '', READ, [], schema),
        make('put', 'put', '', WRITE, BODY, schema),
        make('patch', 'patch', '', [...WRITE, 'force'], patchMediaTypes(kind), schema),
        make('delete', 'delete', '', DELETE, BODY, schema),
      ],
    },
    ...kind.subresources.flatMap((subresource) =>
      subresourcePaths(kind, subresource, collection, inNamespace),
    ),
  ];
}

function subresourcePaths(
  kind: KindDefinition,
  subresource: string,
  collection: string,
  inNamespace: readonly string[],
): PathOperations[] {
  const facts = subresourceFacts(kind, subresource);
  if (!facts) return [];
  const make = operationMaker(kind, facts);
  const schema = subresource === 'scale' ? 'io.k8s.api.autoscaling.v1.Scale' : kind.schema;
  const suffix = subresource[0]!.toUpperCase() + subresource.slice(1);
  const methods = { get: 'get', update: 'put', patch: 'patch', create: 'post', delete: 'delete' } as const;
  const operations = facts.verbs.map((verb) => {
    const method = methods[verb as keyof typeof methods];
    const consumes = method === 'get' ? [] : method === 'patch' ? patchMediaTypes(kind) : BODY;
    return make(method, method, suffix, method === 'get' ? READ : WRITE, consumes, schema);
  });
  return [{ path: `${collection}/{name}/${subresource}`, parameters: [...inNamespace, 'name'], operations }];
}

function operationMaker(kind: KindDefinition, gvk: Operation['gvk'] = kind.type) {
  return (
    method: Operation['method'],
    action: string,
    suffix: string,
    query: readonly string[],
    consumes: readonly string[],
    schema: string,
  ): Operation => ({
    method,
    action,
    id: `${action}${kind.type.namespaced ? 'Namespaced' : ''}${kind.type.kind}${suffix}${kind.type.version}`,
    gvk: { group: gvk.group, version: gvk.version, kind: gvk.kind },
    query,
    consumes,
    schema,
  });
}
