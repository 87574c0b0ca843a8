import type { Activation, UnansweredWrite } from '../actor/index.js';
import type { ApiClient, ApiWrite, WriteAnswer } from '@rollkeeper/client/api-client';
import { withOwnWrites, withWriteGuard } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';

/**
 * The only client that a reconciler gets: it stops writing with the activation, remembers what it wrote, and notes what it
 * may have written.
 */
export function activationClient(
  client: ApiClient,
  activation: Activation,
  clock: Pick<Clock, 'now'>,
): ApiClient {
  const remembering = withOwnWrites(
    client,
    (resource, version) => activation.recordOwnWrite(resource, version),
    (write, answer) => {
      const unanswered = unansweredWrite(write, answer, clock.now());
      if (unanswered) activation.noteUnanswered(unanswered);
    },
  );
  return withWriteGuard(remembering, activation.signal, () => activation.assertHeld());
}

/** None where there is no name to ask for: a collection, and a name that the server makes up. */
function unansweredWrite(
  { ref, replaces, subresource, type, verb }: ApiWrite,
  answer: WriteAnswer,
  notedAtMs: number,
): UnansweredWrite | undefined {
  if (verb === 'deletecollection' || !ref.name) return undefined;
  return {
    // A binding, an eviction: what is created is not the object.
    verb: verb === 'create' && subresource !== undefined ? 'patch' : verb,
    type,
    ref: { namespace: ref.namespace, name: ref.name },
    replaces,
    mayBeUnderWay: answer === 'none',
    notedAtMs,
  };
}
