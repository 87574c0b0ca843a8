import type { ReconcileContext } from '@rollkeeper/runtime';
import { isNotFound } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { letGo } from './service-writes.js';
import { normal } from '../common/tell.js';
import type { SelectingService } from './selecting-services.js';
import { writeService } from './write-service.js';

/** The Services whose selectors the rollouts of a Deployment had moved that no longer exists. */
interface LeftServices {
  readonly key: string;
  readonly services: readonly DeepReadonly<SelectingService>[];
}

/**
 * Removes the hash of a deleted Deployment from the selectors of its Services: no pod will have it again.
 * @throws ApiStatusError Conflict if one has changed meanwhile: the next sync decides again
 */
export async function releaseServices(
  { key, services }: LeftServices,
  { client, events, signal }: Pick<ReconcileContext, 'client' | 'events' | 'signal'>,
): Promise<void> {
  for (const service of services) {
    try {
      await writeService(letGo(service), { client, signal });
    } catch (error) {
      if (isNotFound(error)) continue;
      throw error;
    }
    const message = `It selects all pods again: Deployment ${key} was deleted, whose rollouts moved it`;
    events.record(service, normal('ServiceLetGo', message));
  }
}
