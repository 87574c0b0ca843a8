import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import type { Deployment, ReplicaSet, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { REPLICA_SETS, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Revision } from './revisions.js';
import { revisionsOf, rolledBack } from './revisions.js';

/** A Deployment and its API. */
export interface RolloutTarget {
  readonly client: ApiClient;
  readonly type: ResourceType;
  readonly deployment: Deployment;
}

const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';

/**
 * The revisions as `kubectl rollout history` lists them, or the template of one. @throws UnsupportedError for an
 * unknown one
 */
export async function renderHistory(target: RolloutTarget, revision?: bigint): Promise<string> {
  const revisions = revisionsOf(target.deployment, await replicaSetsOf(target));
  if (revision === undefined) return listed(revisions);
  const one = revisions.find(({ number }) => number === revision);
  if (!one) throw new UnsupportedError(`there is no revision ${revision}`);
  return stringifyJson(one.template, 2);
}

/** @throws UnsupportedError if it is paused, or has no revision to go back to */
export async function undoRollout(target: RolloutTarget, revision = 0n): Promise<void> {
  const { client, deployment, type } = target;
  assertNotPaused(deployment, 'be rolled back');
  await client.update(type, rolledBack(deployment, await replicaSetsOf(target), revision));
}

/** Replaces every pod, by a new annotation of the template. @throws UnsupportedError if it is paused */
export async function restartRollout(
  { client, deployment, type }: RolloutTarget,
  clock: Clock,
): Promise<void> {
  assertNotPaused(deployment, 'be restarted');
  const metadata = { annotations: { [RESTARTED_AT]: toRfc3339(clock.now()) } };
  await client.patch(type, deployment.metadata, {
    type: 'merge',
    body: { spec: { template: { metadata } } },
  });
}

/** @throws UnsupportedError if it is so already */
export async function setPaused({ client, deployment, type }: RolloutTarget, paused: boolean): Promise<void> {
  if ((deployment.spec.paused ?? false) === paused)
    throw new UnsupportedError(`${deployment.metadata.name} is ${paused ? 'already' : 'not'} paused`);
  const body = { spec: { paused: paused || null } };
  await client.patch(type, deployment.metadata, { type: 'merge', body });
}

async function replicaSetsOf({ client, deployment }: RolloutTarget): Promise<readonly ReplicaSet[]> {
  const { namespace } = deployment.metadata;
  return (await client.list<ReplicaSet>(REPLICA_SETS, { namespace })).items;
}

function assertNotPaused({ metadata, spec }: Deployment, what: string): void {
  if (spec.paused)
    throw new UnsupportedError(`${metadata.name} is paused and cannot ${what}: resume it first`);
}

function listed(revisions: readonly Revision[]): string {
  const rows = revisions.map(({ changeCause, number }) => [String(number), changeCause ?? '<none>'] as const);
  return [['REVISION', 'CHANGE-CAUSE'] as const, ...rows]
    .map(([number, cause]) => `${number.padEnd(10)}${cause}`)
    .join('\n');
}
