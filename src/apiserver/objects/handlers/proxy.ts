import { badRequest, notFound, serviceUnavailable } from '../../schema/errors/index.js';
import type { ApiResponse } from '../../http/index.js';
import { storageKeyOf, translateStorageError } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { admitConnection } from './connection.js';
import type { ResourceCall } from './handler.js';

/** `SCHEME:NAME:PORT`, where the scheme or the port may be left out. Source: SplitSchemeNamePort in apimachinery. */
const TARGET = /^(?:(?:https?)?:)?([^:]+)(?::([^:]*))?$/;

/**
 * Any request to a pod's, service's or node's `proxy`. Rights and admission are as on a genuine server; what is behind them
 * never listens, because nothing runs on simulated nodes.
 * @throws StatusError always: 404 for what is not there, 503 for all else
 */
export async function handleProxy(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const name = TARGET.exec(call.name)?.[1];
  if (name === undefined)
    throw badRequest(`invalid ${call.kind.singular} request ${JSON.stringify(call.name)}`);
  const path = call.rest ? `/${call.rest.join('/')}` : '';
  await admitConnection(context, call, path === '' ? {} : { path });
  const target = { ...call, name };
  const found = await context.storage.get(storageKeyOf(target)).catch((error: unknown) => {
    throw translateStorageError(error, target);
  });
  if (!found) throw notFound(call.kind.type, name);
  throw serviceUnavailable(
    `error trying to reach service: nothing runs on the nodes of this server, so that nothing listens at the ${call.kind.singular} ${JSON.stringify(name)}`,
  );
}
