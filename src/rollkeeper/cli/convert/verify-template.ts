import type { Deployment, ReplicaSet, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { isControlledBy, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import { completed, latestReplicaSet } from '@rollkeeper/controllers/deployment';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { isNotFound } from '@rollkeeper/client/api-client';
import { convertedDeployment } from './converted-deployment.js';
import type { ConversionState } from './decide-conversion.js';

/**
 * Asks the server by a dry run what it would make of `source` in the other API, and whether the newest ReplicaSet of
 * the one is also the newest of the other: if not, each pod would be replaced.
 * @throws UnsupportedError if pods would be replaced, or the server does not have the API; the server's error if it
 *   refuses
 */
export async function verifyTemplate(
  source: Deployment,
  to: ResourceType,
  {
    client,
    replicaSets,
    target,
  }: Pick<ConversionState, 'replicaSets' | 'target'> & { readonly client: ApiClient },
): Promise<void> {
  const candidate = convertedDeployment(source, to, target);
  const asked = target
    ? client.update(to, candidate, { dryRun: true })
    : client.create(to, candidate, { dryRun: true });
  const answered = await asked.catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    throw new UnsupportedError(
      `the server does not have ${qualifiedResource(to)}: its CustomResourceDefinition is not installed`,
      { cause: error },
    );
  });
  const owned = replicaSets.filter((replicaSet) => isControlledBy(replicaSet, source));
  const [before, after] = [newest(source, source, owned), newest(answered, source, owned)];
  if (before === undefined || before === after) return;
  throw new UnsupportedError(
    `its pods would be replaced: what ${qualifiedResource(to)} keeps of spec.template is not what ReplicaSet ${before} was made of`,
  );
}

function newest(
  deployment: Deployment,
  { status }: Deployment,
  owned: readonly ReplicaSet[],
): string | undefined {
  return latestReplicaSet({ ...completed(deployment), status }, owned)?.metadata.name;
}
