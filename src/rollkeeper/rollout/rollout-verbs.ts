import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { TimeoutError, UnsupportedError } from '@rollkeeper/machinery/errors';
import type { Deployment, ReplicaSet, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { REPLICA_SETS, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { decideRolloutState } from './decide-rollout-state.js';
import type { Revision } from './revisions.js';
import { revisionsOf, rolledBack } from './revisions.js';

/** A Deployment and its API. */
export interface RolloutTarget {
  readonly client: ApiClient;
  readonly type: ResourceType;
  readonly deployment: Deployment;
}

export interface StatusOptions {
  readonly clock: Clock;
  /** Milliseconds. @default no timeout */
  readonly timeoutMs?: number;
  /** Called with every changed state, and with the reason while it does not change. */
  readonly report: (line: string) => void;
  /** The reason for the rollout's state, in a sentence. @default unknown */
  readonly reasonOf?: () => Promise<string | undefined>;
}

const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';
const LOOK_EVERY_MS = 500;
/** Interval for reporting the reason of an unchanged state. */
const REASON_EVERY_MS = 5000;

/**
 * Resolves once the rollout is complete.
 * @throws UnsupportedError once its progress deadline has passed, TimeoutError
 */
export async function followRollout(target: RolloutTarget, options: StatusOptions): Promise<void> {
  const { clock, report, timeoutMs = Infinity } = options;
  const { client, type } = target;
  const reasonOf = async (): Promise<string | undefined> => options.reasonOf?.().catch(() => undefined);
  const sinceMs = clock.monotonicNow();
  let { deployment } = target;
  let [told, reason, reasonAtMs] = ['', '', sinceMs];
  for (;;) {
    const { message, state } = decideRolloutState(deployment);
    if (state === 'failed') throw new UnsupportedError(withReason(message, await reasonOf()));
    if (message !== told) report(message);
    if (state === 'complete') return;
    told = message;
    const nowMs = clock.monotonicNow();
    if (nowMs - sinceMs > timeoutMs) {
      const timedOut = `timed out waiting for the rollout of ${deployment.metadata.name}`;
      throw new TimeoutError(withReason(timedOut, await reasonOf()));
    }
    if (nowMs - reasonAtMs >= REASON_EVERY_MS) {
      const now = (await reasonOf()) ?? '';
      if (now !== '' && now !== reason) report(now);
      [reason, reasonAtMs] = [now, nowMs];
    }
    await clock.sleep(LOOK_EVERY_MS);
    deployment = await client.get<Deployment>(type, deployment.metadata);
  }
}

function withReason(message: string, reason: string | undefined): string {
  return reason === undefined ? message : `${message}. ${reason}`;
}

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
