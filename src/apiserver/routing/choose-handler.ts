import { ownField } from '@rollkeeper/machinery/kubernetes';
import { methodNotAllowed, notFound, unknownPath } from '../errors/index.js';
import { isDefinedByUsers } from '../kinds/index.js';
import { handleBinding } from '../handlers/binding.js';
import { handleCreate, handleFinalize, handleUpdate } from '../handlers/update.js';
import { handleDelete } from '../handlers/delete.js';
import { handleDeleteCollection } from '../handlers/delete-collection.js';
import { handleEviction } from '../handlers/eviction.js';
import { handleGet } from '../handlers/get.js';
import { handleList } from '../handlers/list.js';
import { handlePatch } from '../handlers/patch.js';
import { handlePodLog, handlePodStream } from '../handlers/pod-log.js';
import { handleProxy } from '../handlers/proxy.js';
import { handleScale } from '../handlers/scale.js';
import { handleTokenRequest } from '../handlers/token-request.js';
import { handleWatch } from '../handlers/watch.js';
import type { Handler, ResourceCall } from '../handlers/handler.js';

type ByMethod = Readonly<Record<string, Handler>>;

const OBJECT: ByMethod = {
  GET: handleGet,
  PUT: handleUpdate,
  PATCH: handlePatch,
  DELETE: handleDelete,
};

const COLLECTION: ByMethod = {
  GET: handleList,
  POST: handleCreate,
  DELETE: handleDeleteCollection,
};

const SUBRESOURCES: Readonly<Record<string, ByMethod>> = {
  status: { GET: handleGet, PUT: handleUpdate, PATCH: handlePatch },
  scale: { GET: handleScale, PUT: handleScale, PATCH: handleScale },
  binding: { POST: handleBinding },
  eviction: { POST: handleEviction },
  log: { GET: handlePodLog },
  exec: { GET: handlePodStream, POST: handlePodStream },
  attach: { GET: handlePodStream, POST: handlePodStream },
  portforward: { GET: handlePodStream, POST: handlePodStream },
  proxy: Object.fromEntries(
    ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, handleProxy]),
  ),
  token: { POST: handleTokenRequest },
  finalize: { PUT: handleFinalize },
  approval: { GET: handleGet, PUT: handleUpdate, PATCH: handlePatch },
  ephemeralcontainers: { GET: handleGet, PUT: handleUpdate, PATCH: handlePatch },
  resize: { GET: handleGet, PUT: handleUpdate, PATCH: handlePatch },
};

/**
 * The handler of the verb that a request asks for.
 * @throws StatusError 404 for a subresource that the kind has not, 405 for a method that has no meaning there
 */
export function chooseHandler(call: ResourceCall): Handler {
  const handler = ownField(methodsOf(call), call.request.method);
  if (!handler) throw methodNotAllowed();
  return handler === handleList && call.request.flag('watch') ? handleWatch : handler;
}

/**
 * The same below `/api/v1/watch`, the old way to watch a collection or one object.
 * @throws StatusError 404, 405
 */
export function chooseWatchHandler(call: ResourceCall): Handler {
  if (call.subresource !== '') throw unknownPath();
  const { GET } = methodsOf(call);
  if (!GET || call.request.method !== 'GET') throw methodNotAllowed();
  return handleWatch;
}

function methodsOf(call: ResourceCall): ByMethod {
  const { kind, name, namespace, subresource } = call;
  const scoped = !kind.type.namespaced || namespace !== '';
  if (subresource !== '') {
    const methods = kind.subresources.includes(subresource) ? ownField(SUBRESOURCES, subresource) : undefined;
    if (methods && scoped) return methods;
    // For a kind that users define, the object is what is not found.
    throw isDefinedByUsers(kind) ? notFound(kind.type, name) : unknownPath();
  }
  if (name !== '') {
    if (!scoped) throw unknownPath();
    return OBJECT;
  }
  if (!scoped) return { GET: handleList };
  return kind.type.kind === 'Namespace' ? { GET: handleList, POST: handleCreate } : COLLECTION;
}
