import type { Activation, UnansweredWrite } from '../activation/index.js';
import type { ApiClient, ApiWrite, WriteAnswer } from '@rollkeeper/client/api-client';
import { withOwnWrites, withWriteGuard } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';

/**
 * The only client that a reconciler gets: it stops writing with the activation, records its writes, and notes those
 * with an unknown outcome.
 * @param assertMayWork called right before each write is sent, in addition to the check of the key's lock
 */
export function activationClient(
  client: ApiClient,
  activation: Activation,
  clock: Pick<Clock, 'now'>,
  assertMayWork: () => void = () => undefined,
): ApiClient {
  const remembering = withOwnWrites(
    client,
    (resource, version) => activation.recordOwnWrite(resource, version),
    (write, answer) => {
      const unanswered = unansweredWrite(write, answer, clock.now());
      if (unanswered) activation.noteUnanswered(unanswered);
    },
  );
  return withWriteGuard(remembering, activation.signal, () => {
    activation.assertHeld();
    assertMayWork();
  });
}

/** None without a name to look up: a collection, or a server-generated name. */
function unansweredWrite(
  { ref, replaces, subresource, type, verb }: ApiWrite,
  answer: WriteAnswer,
  notedAtMs: number,
): UnansweredWrite | undefined {
  if (verb === 'deletecollection' || !ref.name) return undefined;
  return {
    // A binding or an eviction: the created object is not the target.
    verb: verb === 'create' && subresource !== undefined ? 'patch' : verb,
    type,
    ref: { namespace: ref.namespace, name: ref.name },
    replaces,
    mayBeUnderWay: answer === 'none',
    notedAtMs,
  };
}
