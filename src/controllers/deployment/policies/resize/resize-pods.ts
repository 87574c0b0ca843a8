import type { ApiClient } from '@rollkeeper/runtime';
import { ApiStatusError, isConflict, isForbidden, isInvalid, isNotFound } from '@rollkeeper/runtime';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import { Pod } from '@rollkeeper/machinery/kubernetes';
import { isCustomDeployment, typeOfDeployment } from '../../kubernetes/deployment-api.js';
import { customTemplateHash, podTemplateHash } from '../../kubernetes/pod-template.js';
import { RESIZE_REFUSED } from './settings.js';
import { shortenedTo } from '../../../shared/index.js';

interface Context {
  readonly client: ApiClient;
  readonly signal: AbortSignal;
}

/** The longest answer of the API on the Deployment. Characters. */
const LONGEST_WHY = 300;

/**
 * Gives running pods other resources. A pod that was changed or deleted in between is looked at again by the next pass. Where the API
 * does not let pods have them, or knows no such thing, the Deployment keeps that, and its next pass rolls them out.
 */
export async function resizePods(
  deployment: DeepReadonly<Deployment>,
  pods: readonly Pod[],
  { client, signal }: Context,
): Promise<void> {
  for (const pod of pods) {
    try {
      await client.update(Pod, pod, { subresource: 'resize', signal });
    } catch (error) {
      if (isConflict(error)) continue;
      if (isNotFound(error) && !(await isThere(pod, client, signal))) continue;
      if (!isRefusal(error)) throw error;
      return noteRefusal(deployment, error, { client, signal });
    }
  }
}

async function isThere(pod: Pod, client: ApiClient, signal: AbortSignal): Promise<boolean> {
  try {
    const live = await client.get<Pod>(Pod, pod.metadata, { signal });
    return live.metadata.uid === pod.metadata.uid;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

/** A right that is missing, a resource that is not served, or a change that is not allowed. */
function isRefusal(error: unknown): boolean {
  const isUnserved = error instanceof ApiStatusError && error.code === 405;
  return isForbidden(error) || isInvalid(error) || isNotFound(error) || isUnserved;
}

async function noteRefusal(
  deployment: DeepReadonly<Deployment>,
  error: unknown,
  { client, signal }: Context,
): Promise<void> {
  const hashOf = isCustomDeployment(deployment) ? customTemplateHash : podTemplateHash;
  const why = `${hashOf(deployment.spec.template)}: ${shortenedTo(LONGEST_WHY, errorMessage(error))}`;
  const { uid } = deployment.metadata;
  const body = { metadata: { uid, annotations: { [RESIZE_REFUSED]: why } } };
  await client.patch(typeOfDeployment(deployment), deployment.metadata, { type: 'merge', body }, { signal });
}
