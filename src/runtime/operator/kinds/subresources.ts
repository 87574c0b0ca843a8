import type { KubernetesObject, ObjectRef, Kind } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, DeleteOptions } from '@rollkeeper/client/api-client';
import { Pod, untyped } from '@rollkeeper/machinery/kubernetes';

/** The present and the desired number of replicas, as autoscalers see it: `autoscaling/v1`. */
export interface Scale extends KubernetesObject {
  spec?: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

/** The scale of an object whose kind has one. */
export function readScale(client: ApiClient, kind: Kind, { name, namespace }: ObjectRef): Promise<Scale> {
  return client.get<Scale>(untyped(kind), { name, namespace }, { subresource: 'scale' });
}

/** Sets the desired number of replicas of an object, of any scalable kind, as `kubectl scale` does. */
export function scale(
  client: ApiClient,
  kind: Kind,
  { name, namespace }: ObjectRef,
  replicas: number,
): Promise<Scale> {
  const body = { spec: { replicas } };
  return client.patch<Scale>(
    untyped(kind),
    { name, namespace },
    { type: 'merge', body },
    { subresource: 'scale' },
  );
}

/** The options of {@link evict}. */
export type EvictOptions = Pick<DeleteOptions, 'gracePeriodSeconds' | 'preconditions'> & {
  readonly dryRun?: boolean;
};

/**
 * Asks for the deletion of a pod within the PodDisruptionBudgets, as `kubectl drain` does.
 * @throws ApiStatusError 429 while a budget does not allow it: try again later
 */
export async function evict(
  client: ApiClient,
  { name, namespace }: ObjectRef,
  { dryRun, ...deleteOptions }: EvictOptions = {},
): Promise<void> {
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions,
  };
  await client.create(untyped(Pod), eviction, { subresource: 'eviction', dryRun });
}
