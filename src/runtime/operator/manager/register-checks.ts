import { IllegalStateError } from '@rollkeeper/machinery/errors';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { UnreadableResource } from '../../controller/index.js';
import type { HealthCheck, HealthNote, HealthRegistry } from '../../health/index.js';
import type { Informer, InformerFactory } from '@rollkeeper/client/informer';
import type { ManagedController, Manager } from '../../manager/index.js';
import { missingOf, troublesOf } from '../../manager/index.js';
import type { Coordination } from '../coordination/coordination.js';
import type { Election } from './election.js';

export interface CheckedParts {
  readonly manager: Manager;
  /** All caches of this replica. */
  readonly informers: Pick<InformerFactory, 'all'>;
  readonly election: Election;
  readonly controllers: readonly ManagedController[];
  readonly client: Pick<ApiClient, 'ping'>;
  readonly eventLoop: HealthCheck;
  readonly coordination: Pick<Coordination, 'name' | 'ping'>;
  readonly reconcileOn: 'all' | 'leader';
}

/**
 * Alive: the process and its event loop respond, and no leading work runs beyond its lease. Never depends on Redis or
 * the API, because a restart would not bring them back. Ready: able to process keys now.
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
  registry.add('readyz', { name: coordination.name, check: () => coordination.ping() });
  registry.add('readyz', { name: 'api', check: () => client.ping() });
  registry.add('readyz', {
    name: 'informers-synced',
    check: () => {
      const behind = informers.all().filter(({ hasSynced }) => !hasSynced);
      const missing = missingOf(behind);
      // If other controllers work, a resource that the server does not list only holds back those that need it.
      const isOtherwiseFilled = manager.state === 'running' && missing.length === behind.length;
      const silent = behind.filter(({ trouble }) => trouble?.code === undefined);
      const names = silent.map(nameOf);
      const problem = [...(names.length > 0 ? [`not synced: ${names.join(', ')}`] : []), ...told(missing)];
      failUnless(behind.length === 0 || isOtherwiseFilled, problem.join('; '));
      return noteOf(missing);
    },
  });
  for (const managed of controllers) {
    const name = `controller-${managed.controller.name}`;
    registry.add('readyz', { name, check: () => checkController(managed, parts) });
  }
}

/** Includes the missing namespaces, if they are watched separately: rights may be missing in one of them. */
function nameOf({ type, unsyncedNamespaces = [] }: Informer): string {
  const where = unsyncedNamespaces.length > 0 ? ` (${unsyncedNamespaces.join(', ')})` : '';
  return qualifiedResource(type) + where;
}

/** Fails if it should take keys and does not; reports what it waits for, and what it works without. */
function checkController(
  managed: ManagedController,
  { election, manager, reconcileOn }: CheckedParts,
): HealthNote {
  const { built, controller, worksOn = 'all' } = managed;
  const { unreadable, waitsFor } = troublesOf(managed);
  const isRunning = manager.state === 'running';
  if (isRunning && waitsFor.length > 0) return `does not start: ${told(waitsFor).join('; ')}`;
  const isStandby = isRunning && !election.isLeader && (worksOn === 'leader' || reconcileOn === 'leader');
  const worksHere = election.isLeader || worksOn === 'slots';
  const isFilling = isRunning && worksHere && built.leading?.isReady === false;
  failUnless(controller.isConsuming || isStandby || isFilling, 'takes no keys');
  return [...(isFilling ? ['fills its caches'] : []), ...told(unreadable)].join('; ') || undefined;
}

/** Limit of resources listed by name. */
const NAMED_AT_MOST = 10;

function noteOf(resources: readonly UnreadableResource[]): HealthNote {
  return resources.length === 0 ? undefined : told(resources).join('; ');
}

function told(resources: readonly UnreadableResource[]): string[] {
  if (resources.length === 0) return [];
  const named = resources.slice(0, NAMED_AT_MOST).map(({ reason, resource }) => `${resource} (${reason})`);
  const rest = resources.length - named.length;
  return [`cannot read ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`];
}

function failUnless(isWell: boolean, problem: string): void {
  if (!isWell) throw new IllegalStateError(problem);
}
