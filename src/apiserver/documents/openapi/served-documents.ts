import { groupsOf, groupVersionsOf } from '../discovery/index.js';
import type { GroupVersion, AnsweredType } from '../discovery/index.js';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { isDefinedByUsers } from '../../kinds/index.js';
import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import { OTHER_PAGES, groupPage, versionPage } from './discovery-paths.js';
import { pathsOfKind, withArticle } from './kind-paths.js';
import type { PathOperations, OperationFacts } from './operations.js';
import { STREAMED_TYPES, operationOf, pathOf, rootOf } from './operations.js';
import { LIST, WRITE, nameOf } from './parameters.js';

/** The content of one document below `/openapi/v3`. */
export interface ServedDocument {
  /** Below `/openapi/v3`: `apis/apps/v1`. */
  readonly path: string;
  /** As long as these are the same, so is the document. */
  readonly kinds: readonly KindDefinition[];
  paths(): PathOperations[];
}

/** All of them; those of kinds that users define have no pages of their groups, as there. */
export function servedDocuments(kinds: KindRegistry): ServedDocument[] {
  return [
    ...OTHER_PAGES.map((page) => ({ path: page.path.slice(1, -1), kinds: [], paths: () => [page] })),
    ...groupsOf(kinds)
      .filter(([found]) => found.group !== '' && isOfServer(found))
      .map(([{ group }]) => ({ path: `apis/${group}`, kinds: [], paths: () => [groupPage(group)] })),
    ...groupVersionsOf(kinds).map((found) => ({
      path: documentPath(found),
      kinds: found.kinds,
      paths: () => pathsOf(found),
    })),
  ];
}

/** The paths of everything that the server has of itself. */
export function pathsOfServer(kinds: KindRegistry): PathOperations[] {
  return servedDocuments(kinds)
    .filter(({ kinds: own }) => !own.some(isDefinedByUsers))
    .flatMap((document) => document.paths());
}

function pathsOf(found: GroupVersion): PathOperations[] {
  return [
    ...(isOfServer(found) ? [versionPage(found)] : []),
    ...found.answered.flatMap(pathsOfAnswered),
    ...found.kinds.flatMap(pathsOfKind),
  ];
}

function isOfServer({ kinds }: GroupVersion): boolean {
  return !kinds.some(isDefinedByUsers);
}

function documentPath({ group, version }: GroupVersion): string {
  return group === '' ? `api/${version}` : `apis/${apiVersionOf({ group, version })}`;
}

/** Every path of a type whose objects are computed on request. */
function pathsOfAnswered(type: AnsweredType): PathOperations[] {
  const { kind, namespaced, resource, schema, verbs } = type;
  const of = { type, schema, isCustom: false };
  const at = (path: string, facts: OperationFacts): PathOperations => pathOf(path, [operationOf(of, facts)]);
  const root = rootOf(type);
  const collection = `${root}${namespaced ? '/namespaces/{namespace}' : ''}/${resource}`;
  const list = (isAcross: boolean): OperationFacts => ({
    ...{ method: 'get', action: 'list', codes: [200], answer: `${schema}List`, parameters: LIST, isAcross },
    description: `list objects of kind ${kind}`,
    suffix: isAcross ? 'ForAllNamespaces' : '',
    produces: STREAMED_TYPES,
  });
  const creation: OperationFacts = {
    ...{ method: 'post', action: 'post', verb: 'create', codes: [200, 201, 202], parameters: WRITE },
    description: `create ${withArticle(kind)}`,
    body: { schema, isRequired: true },
  };
  const one: OperationFacts = {
    ...{ method: 'get', action: 'get', verb: 'read', codes: [200], parameters: [nameOf(kind)] },
    description: `read the specified ${kind}`,
  };
  const isListed = verbs.includes('list');
  return [
    ...(isListed && namespaced ? [at(`${root}/${resource}`, list(true))] : []),
    ...(isListed ? [at(collection, list(false))] : []),
    ...(verbs.includes('create') ? [at(collection, creation)] : []),
    ...(verbs.includes('get') ? [at(`${collection}/{name}`, one)] : []),
  ];
}
