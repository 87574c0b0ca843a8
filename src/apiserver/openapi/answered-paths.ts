import type { AnsweredType } from '../discovery/index.js';
import { withArticle } from './kind-paths.js';
import { STREAMED_TYPES, operationOf, pathOf, rootOf } from './operations.js';
import type { OperationFacts, PathOperations } from './operations.js';
import { LIST, WRITE, nameOf } from './parameters.js';

/** Every path of a type whose objects are computed on request. */
export function pathsOfAnswered(type: AnsweredType): PathOperations[] {
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
