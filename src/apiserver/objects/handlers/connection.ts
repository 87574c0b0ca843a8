import { uncheckedObject } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { badRequest } from '../../schema/errors/index.js';
import type { RegistryContext } from '../registry/index.js';
import { CONNECT_TYPES } from './connect-options.js';
import type { ResourceCall } from './handler.js';
import { sentAttributes } from './sent-attributes.js';
import { callerOf } from './write-options.js';

/**
 * Asks webhooks and policies about a connection. Source: ConnectResource in apiserver.
 * @param options those of the connection
 * @returns the options as webhooks have left them
 * @throws StatusError
 */
export async function admitConnection(
  context: RegistryContext,
  call: ResourceCall,
  options: object,
): Promise<UnstructuredObject> {
  const { kind, request, subresource } = call;
  if (request.query.getAll('dryRun').some((value) => value !== ''))
    throw badRequest('dryRun is not supported');
  const { caller } = callerOf(call);
  const sent = CONNECT_TYPES[subresource]!(kind.type);
  const attributes = sentAttributes(call, sent, uncheckedObject(options), {
    operation: 'CONNECT',
    dryRun: false,
    caller,
  });
  await context.admission.mutateSent(attributes);
  await context.admission.validate(attributes);
  return attributes.object;
}
