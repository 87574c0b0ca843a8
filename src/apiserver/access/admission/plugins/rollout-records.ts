import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { Deployment, RollkeeperDeployment, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import { refused } from '../attributes.js';
import type { WriteAttributes } from '../attributes.js';
import type { AccessDecider } from '../request-authority.js';

/**
 * The annotations that a controller of Deployments writes on ReplicaSets, with names of people in them
 * (docs/ROLLOUTS.md).
 */
const RECORDS = ['revisions', 'step', 'check-results', 'experiments', 'experiment-state'].map(
  (name) => `rollkeeper.dev/${name}`,
);
/** ConfigMaps with the lasting history of a Deployment. */
const HISTORY_PREFIX = 'rollkeeper-history-';

/**
 * Leaves the records of rollouts on a ReplicaSet as they are, in place of what another user than a controller of Deployments sends, and
 * warns of it. So the names of people in them are those that this server has seen.
 */
export function keepRecords(attributes: WriteAttributes, access: AccessDecider): void {
  const { caller, object, oldObject } = attributes;
  const changed = RECORDS.filter((name) => annotationOf(object, name) !== annotationOf(oldObject, name));
  if (changed.length === 0 || keepsDeployments(attributes, access)) return;
  const kept = Object.entries({ ...object.metadata.annotations }).filter(([name]) => !changed.includes(name));
  const before = changed.flatMap((name) => {
    const value = annotationOf(oldObject, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  object.metadata.annotations = Object.fromEntries([...kept, ...before]);
  caller.warn(`metadata.annotations: only a controller of Deployments may change ${changed.join(', ')}`);
}

/** @throws StatusError if another user than a controller of Deployments writes a lasting history */
export function protectHistory(attributes: WriteAttributes, access: AccessDecider): void {
  const { name, object, oldObject } = attributes;
  // A name that is still to be generated is that of no Deployment's history.
  if (!name.startsWith(HISTORY_PREFIX)) return;
  const isSame = ['data', 'binaryData'].every((field) => semanticEqual(object[field], oldObject?.[field]));
  if (isSame || keepsDeployments(attributes, access)) return;
  throw refused(attributes, 'only a controller of Deployments may write a history of rollouts');
}

/** Whether the caller may write the status of Deployments in this namespace: a right that the roles for users do not have. */
function keepsDeployments({ caller, namespace }: WriteAttributes, access: AccessDecider): boolean {
  return [Deployment, RollkeeperDeployment].some(({ group, resource }) =>
    ['update', 'patch'].some((verb) => {
      const question = { verb, group, resource, subresource: 'status', namespace, name: '' };
      return access.decide(caller.user, question).allowed;
    }),
  );
}

function annotationOf(object: Readonly<UnstructuredObject> | undefined, name: string): string | undefined {
  return object?.metadata.annotations?.[name];
}
