import { HttpStatus, NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import type { AdminPorts, DeploymentCaches } from './admin-ports.js';
import { parseName } from './request-parsing.js';

/** A Deployment in a path of the admin API. */
interface DeploymentInPath {
  readonly namespace: string;
  readonly name: string;
  /** `apps/v1` or `rollkeeper.dev/v1`. @default the first that has it */
  readonly api?: unknown;
}

interface FoundDeployment {
  readonly caches: DeploymentCaches;
  readonly key: string;
  readonly deployment: DeepReadonly<Deployment>;
}

/** @throws NotFoundException; ServiceUnavailableException while it may be one that is not cached yet, or that another replica holds */
export function findDeployment(
  ports: Pick<AdminPorts, 'caches' | 'slots'>,
  { api, name, namespace }: DeploymentInPath,
): FoundDeployment {
  // Other slots may be on their way to it; its own are complete.
  const isWhole = ports.slots?.()?.owns(namespace) ?? false;
  const key = `${parseName(namespace, 'namespace')}/${parseName(name, 'name')}`;
  for (const caches of deploymentCaches(ports)) {
    if (api !== undefined && api !== caches.apiVersion) continue;
    if (!isWhole && isFilling(caches)) throw stillListing();
    const deployment = caches.deployments.lister.get(key);
    if (deployment) return { caches, key, deployment };
    if (caches.deployments.showsNamespace?.(namespace) === false) throw heldElsewhere(namespace);
  }
  throw new NotFoundException({ error: `no Deployment ${key}` });
}

/** @throws ServiceUnavailableException where Deployments are not watched */
export function deploymentCaches(ports: Pick<AdminPorts, 'caches'>): readonly DeploymentCaches[] {
  const caches = ports.caches();
  if (caches.length === 0)
    throw new ServiceUnavailableException({ error: 'this replica does not watch Deployments' });
  return caches;
}

/** A type that is not served, or that this replica may not list, will never have a list. */
const NO_LIST: readonly (number | undefined)[] = [HttpStatus.NOT_FOUND, HttpStatus.FORBIDDEN];

/** Whether a first list is still in progress: an object that is not cached may exist. */
export function isFilling({ deployments, replicaSets, pods }: DeploymentCaches): boolean {
  return [deployments, replicaSets, pods].some(
    ({ hasSynced, trouble }) => !hasSynced && !NO_LIST.includes(trouble?.code),
  );
}

function heldElsewhere(namespace: string): ServiceUnavailableException {
  return new ServiceUnavailableException({
    error: `this replica does not hold the slot of the namespace ${namespace}; ask another replica (docs/SCALE.md)`,
  });
}

export function stillListing(): ServiceUnavailableException {
  return new ServiceUnavailableException({
    error:
      'this replica has not listed all Deployments, ReplicaSets and Pods yet; ask again, or ask another replica',
  });
}
