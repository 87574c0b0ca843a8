import type { AccessAttributes } from '../../access/authorization/index.js';
import type { ApiRequest } from '../../http/index.js';
import { requiredFields, requiredName } from '../../kinds/selectors/index.js';

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** The subresources that WebSockets reach by GET, and others by POST. */
const CONNECTIONS = new Set(['attach', 'exec', 'portforward']);

/** The parts of a request that say what it asks for. */
type AskedFor = Pick<ApiRequest, 'method' | 'path' | 'query' | 'target' | 'flag'>;

/** The verbs that a selector says more of. */
const SELECTING = new Set(['list', 'watch', 'deletecollection']);

/**
 * All rights that a request needs. A connection to a pod needs the right to create besides what it asks for, regardless of its
 * method. Source: AuthorizePodWebsocketUpgradeCreatePermission, pkg/registry/core/pod/rest/authorize.go.
 * @throws StatusError 400 for a path that is not well-formed
 */
export function needsOf(request: ApiRequest): readonly AccessAttributes[] {
  const asked = attributesOf(request);
  if (asked.path !== undefined || asked.verb === 'create') return [asked];
  const { group, resource, subresource } = asked;
  const isConnection = group === '' && resource === 'pods' && CONNECTIONS.has(subresource);
  return isConnection ? [asked, { ...asked, verb: 'create' }] : [asked];
}

/**
 * The attributes of a request, as an authoriser is asked about it (apiserver's `RequestInfo`).
 * @throws StatusError 400 for a path that is not well-formed
 */
export function attributesOf(request: AskedFor): AccessAttributes {
  const { method, path, query, target } = request;
  if (!target) return { path, verb: method.toLowerCase() };
  const { group, name, prefix, resource, subresource } = target;
  const verb = prefix || verbOf(request, name);
  // A namespace is in itself: a user who may read all in it may read it.
  const namespace = target.namespace || (resource === 'namespaces' ? name : '');
  // A right on one name allows lists and watches of that name. It must not allow a creation or the deletion of a collection.
  const isRead = name === '' && prefix === '' && (verb === 'list' || verb === 'watch');
  const selected = isRead ? requiredName(query.get('fieldSelector')) : undefined;
  const attributes = { verb, group, resource, subresource, namespace, name: selected ?? name };
  if (name !== '' || !SELECTING.has(verb)) return attributes;
  const fieldSelector = requiredFields(query.get('fieldSelector'));
  return fieldSelector.length === 0 ? attributes : { ...attributes, fieldSelector };
}

function verbOf(request: AskedFor, name: string): string {
  const verb = VERBS[request.method] ?? '';
  if (name !== '') return verb;
  if (verb === 'get') return request.flag('watch') ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}
