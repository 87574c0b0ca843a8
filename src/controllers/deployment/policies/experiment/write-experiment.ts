import type { ApiClient, EventRecorder } from '@rollkeeper/runtime';
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '@rollkeeper/runtime';
import { NameTakenError, errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet, Service, asSent } from '@rollkeeper/machinery/kubernetes';
import type { ExperimentWrite } from '../common/policy-writes.js';
import { SERVICE_NOT_USABLE, warning } from '../common/tell.js';
import { isExperimentOf } from './experiment-sets.js';

interface WriteContext {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
  readonly events: Pick<EventRecorder, 'record'>;
}

type ServiceWrite = Extract<ExperimentWrite, { readonly verb: 'serve' }>;

/**
 * Makes or removes a ReplicaSet of an experiment, or makes a Service of one. What is there already was made by an earlier pass, and a
 * ReplicaSet that is gone was removed by one.
 * @throws NameTakenError if its name belongs to another object; ApiStatusError if the server refuses it
 */
export async function writeExperiment(
  deployment: DeepReadonly<Deployment>,
  write: ExperimentWrite,
  context: WriteContext,
): Promise<void> {
  if (write.verb === 'serve') return makeService(deployment, write, context);
  const { client, signal } = context;
  const { object, verb } = write;
  const { name, ownerReferences = [], uid } = object.metadata;
  if (verb === 'delete') {
    try {
      await client.delete(ReplicaSet, object.metadata, { preconditions: { uid }, signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return;
  }
  try {
    await client.create(ReplicaSet, asSent<ReplicaSet>(object), { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await client.get<ReplicaSet>(ReplicaSet, object.metadata, { signal });
    if (!isExperimentOf(found, ownerReferences[0]?.uid))
      throw new NameTakenError(`the name of the experiment's ReplicaSet "${name}" belongs to another one`);
  }
}

/** An Event reports a refusal: a quota of Services, for example, shows in no status. */
async function makeService(
  deployment: DeepReadonly<Deployment>,
  { note, object }: ServiceWrite,
  { client, events, signal }: WriteContext,
): Promise<void> {
  const { name } = object.metadata;
  try {
    await client.create(Service, asSent<Service>(object), { signal });
  } catch (error) {
    if (isAlreadyExists(error)) return assertOwn(object, client, signal);
    if (!isNamespaceTerminating(error) && !signal.aborted)
      events.record(
        deployment,
        warning(
          SERVICE_NOT_USABLE,
          `Service "${name}" of an experiment cannot be made: ${errorMessage(error)}`,
        ),
      );
    throw error;
  }
  events.record(deployment, note);
}

async function assertOwn(
  wanted: ServiceWrite['object'],
  client: ApiClient,
  signal: AbortSignal,
): Promise<void> {
  const { name, ownerReferences = [] } = wanted.metadata;
  const found = await client.get<Service>(Service, wanted.metadata, { signal });
  const isOwn = found.metadata.ownerReferences?.some(({ uid }) => uid === ownerReferences[0]?.uid);
  if (!isOwn)
    throw new NameTakenError(`the name of the experiment's Service "${name}" belongs to another one`);
}
