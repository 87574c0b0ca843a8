import type { RedisActorRuntime } from '../actor/index.js';
import type { HttpApiClient } from '../api-client/index.js';
import { IllegalStateError } from '../errors/index.js';
import type { EventLoopMonitor, HealthRegistry } from '../health/index.js';
import type { Informer, InformerFactory } from '../informer/index.js';
import { qualifiedResource } from '../kubernetes/index.js';
import type { ManagedController, Manager } from '../manager/index.js';
import type { ReplicaElector } from './replica-elector.js';

export interface CheckedParts {
  readonly manager: Manager;
  readonly informers: InformerFactory;
  readonly elector: ReplicaElector;
  readonly controllers: readonly ManagedController[];
  readonly client: HttpApiClient;
  readonly eventLoop: EventLoopMonitor;
  readonly actors: Pick<RedisActorRuntime, 'ping'>;
  readonly reconcileOn: 'all' | 'leader';
}

/**
 * Alive: the process and its event loop, and no leading work beyond its lease; never because Redis or the API is
 * away, for a restart would not bring them back. Ready: able to work on keys now.
 */
export function registerHealthChecks(registry: HealthRegistry, parts: CheckedParts): void {
  const { actors, client, controllers, elector, eventLoop, informers, manager } = parts;
  registry.add('livez', { name: 'ping', check: () => undefined });
  registry.add('livez', eventLoop);
  registry.add('livez', { name: 'leader-election', check: () => elector.checkHealth() });

  registry.add('readyz', {
    name: 'running',
    check: () => failUnless(manager.state === 'running', manager.state),
  });
  registry.add('readyz', { name: 'redis', check: () => actors.ping() });
  registry.add('readyz', { name: 'api', check: () => client.ping() });
  registry.add('readyz', {
    name: 'informers-synced',
    check: () => {
      const behind = informers.all().filter(({ hasSynced }) => !hasSynced);
      failUnless(behind.length === 0, `not synced: ${behind.map(nameOf).join(', ')}`);
    },
  });
  for (const { controller } of controllers) {
    registry.add('readyz', {
      name: `controller-${controller.name}`,
      check: () => {
        const isStandby = parts.reconcileOn === 'leader' && !elector.isLeader;
        failUnless(controller.isConsuming || isStandby, 'takes no keys');
      },
    });
  }
}

/** With the namespaces that are missing, where they are watched one by one: it may be rights in one that are. */
function nameOf({ type, unsyncedNamespaces = [] }: Informer): string {
  const where = unsyncedNamespaces.length > 0 ? ` (${unsyncedNamespaces.join(', ')})` : '';
  return qualifiedResource(type) + where;
}

function failUnless(isWell: boolean, problem: string): void {
  if (!isWell) throw new IllegalStateError(problem);
}
