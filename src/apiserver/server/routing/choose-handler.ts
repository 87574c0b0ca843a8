import { ownField } from '@rollkeeper/machinery/kubernetes';
import { methodNotAllowed, notFound, unknownPath } from '../../schema/errors/index.js';
import { isDefinedByUsers } from '../../kinds/index.js';
import { handleBinding } from '../../objects/handlers/binding.js';
import { handleCreate, handleFinalize, handleUpdate } from '../../objects/handlers/update.js';
import { handleDelete } from '../../objects/handlers/delete.js';
import { handleDeleteCollection } from '../../objects/handlers/delete-collection.js';
import { handleEviction } from '../../objects/handlers/eviction.js';
import { handleGet } from '../../objects/handlers/get.js';
import { handleList } from '../../objects/handlers/list.js';
import { handlePatch } from '../../objects/handlers/patch.js';
import { handlePodLog, handlePodStream } from '../../objects/handlers/pod-log.js';
import { handleProxy } from '../../objects/handlers/proxy.js';
import { handleScale } from '../../objects/handlers/scale.js';
import { handleTokenRequest } from '../../objects/handlers/token-request.js';
import { handleWatch } from '../../objects/handlers/watch.js';
import type { Handler, ResourceCall } from '../../objects/handlers/handler.js';

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
