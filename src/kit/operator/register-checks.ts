import { IllegalStateError } from '../../base/errors/index.js';
import { qualifiedResource } from '../../base/kubernetes/index.js';
import type { ApiClient } from '../api-client/index.js';
import type { HealthCheck, HealthRegistry } from '../health/index.js';
import type { InformerFactory } from '../informer/index.js';
import type { ManagedController, Manager } from '../manager/index.js';
import { troublesOf } from '../manager/index.js';
import type { Coordination } from './coordination.js';
import type { Election } from './election.js';

export interface CheckedParts {
  readonly manager: Manager;
  readonly informers: InformerFactory;
  readonly election: Election;
  readonly controllers: readonly ManagedController[];
  readonly client: Pick<ApiClient, 'ping'>;
  readonly coordination: Pick<Coordination, 'ping'>;
  readonly eventLoop: HealthCheck;
}

/**
 * Alive: the process and its event loop, and no leading work beyond its lease; never because Redis or the API is
 * away, for a restart would not bring them back. Ready: able to work on keys now.
 */
export function registerChecks(registry: HealthRegistry, parts: CheckedParts): void {
  const { client, controllers, coordination, election, eventLoop, informers, manager } = parts;
  registry.add('livez', { name: 'ping', check: () => undefined });
  registry.add('livez', eventLoop);
  registry.add('livez', { name: 'leader-election', check: () => election.checkHealth() });
  registry.add('readyz', {
    name: 'running',
    check: () => failUnless(manager.state === 'running', manager.state),
  });
  registry.add('readyz', { name: 'coordination', check: () => coordination.ping() });
  registry.add('readyz', { name: 'api', check: () => client.ping() });
  registry.add('readyz', {
    name: 'informers-synced',
    check: () => {
      const behind = informers.all().filter(({ hasSynced }) => !hasSynced);
      const names = behind.map(({ type }) => qualifiedResource(type));
      failUnless(behind.length === 0, `not synced: ${names.join(', ')}`);
    },
  });
  for (const managed of controllers)
    registry.add('readyz', {
      name: `controller-${managed.controller.name}`,
      check: () => {
        const { built, controller, worksOn } = managed;
        const [missing] = troublesOf(managed).waitsFor;
        failUnless(!missing, `does not start: cannot read ${missing?.resource} (${missing?.reason})`);
        const isStandby = worksOn === 'leader' && !election.isLeader;
        const isFilling = built.leading?.isReady === false;
        failUnless(controller.isConsuming || isStandby || isFilling, 'takes no keys');
      },
    });
}

function failUnless(isWell: boolean, problem: string): void {
  if (!isWell) throw new IllegalStateError(problem);
}
