import type { ApiClient } from '@rollkeeper/runtime';
import { isAlreadyExists, isNotFound } from '@rollkeeper/runtime';
import { NameTakenError } from '@rollkeeper/machinery/errors';
import { ReplicaSet, asSent } from '@rollkeeper/machinery/kubernetes';
import type { ExperimentWrite } from '../common/policy-writes.js';
import { isExperimentOf } from './experiment-sets.js';

/**
 * Makes or removes a ReplicaSet of an experiment. One that is there already was made by an earlier pass, and one that is gone was
 * removed by one.
 * @throws NameTakenError if its name belongs to another ReplicaSet
 */
export async function writeExperiment(
  { object, verb }: ExperimentWrite,
  { client, signal }: { readonly client: ApiClient; readonly signal: AbortSignal },
): Promise<void> {
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
