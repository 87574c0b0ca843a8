import type { Decision, ReconcileContext, ReconcileResult } from '@rollkeeper/runtime';
import { isNotFound } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { letGo } from './service-writes.js';
import { normal } from '../common/tell.js';
import type { SelectingService } from './selecting-services.js';
import { writeService } from './write-service.js';

/** One that no longer exists, and the Services whose selectors its rollouts had moved. */
export interface DeletedDeployment {
  readonly as: 'deleted';
  readonly key: string;
  readonly services: readonly DeepReadonly<SelectingService>[];
}

/** Describes for people how the Services of a deleted Deployment are released. */
export function releaseDecision({ services }: Pick<DeletedDeployment, 'services'>): Decision {
  const names = services.map(({ metadata }) => metadata.name).join(', ');
  const summary = `the Deployment was deleted; its Services select all pods again: ${names}`;
  return { branch: 'deleted', summary, changes: true };
}

/**
 * Removes the hash of a deleted Deployment from the selectors of its Services: no pod will have it again.
 * @throws ApiStatusError Conflict if one has changed meanwhile: the next sync decides again
 */
export async function releaseServices(
  { key, services }: Pick<DeletedDeployment, 'key' | 'services'>,
  { client, events, signal }: Pick<ReconcileContext, 'client' | 'events' | 'signal'>,
): Promise<ReconcileResult> {
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
  return {};
}
