import type { Clock } from '@rollkeeper/machinery/clock';
import { TerminalError } from '@rollkeeper/machinery/errors';
import type { EventRecorder } from '@rollkeeper/runtime';
import type { ClusterView } from '../framework/cluster-view.js';
import type { ReadablePod } from '../framework/node-info.js';
import { bindingStateOf, hasBindingConditions } from '../plugins/dynamic-resources/binding-conditions.js';
import type { ReadableClaim, ResourceClaim } from '../plugins/dynamic-resources/resource-api.js';
import type { ChangeSignal } from './change-signal.js';

interface AwaitedDevices {
  readonly view: ClusterView;
  readonly clock: Pick<Clock, 'monotonicNow'>;
  readonly changes: ChangeSignal;
  /** Records as the scheduler of that name. */
  readonly eventsOf: (schedulerName: string) => EventRecorder;
}

const POLL_MS = 5_000;

/**
 * Waits until drivers have prepared the devices of claims for the pod's node, where any device asks for that. Source: PreBind in k/k
 * pkg/scheduler/framework/plugins/dynamicresources.
 * @throws TerminalError once a driver reports that it cannot, or after `timeoutMs`
 */
export async function awaitDevices(
  { changes, clock, eventsOf, view }: AwaitedDevices,
  {
    claims,
    node,
    pod,
  }: { readonly claims: readonly ReadableClaim[]; readonly node: string; readonly pod: ReadablePod },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const awaited = claims.filter(hasBindingConditions);
  if (awaited.length === 0) return;
  const message = `waiting for binding conditions for device on node ${node}`;
  const note = { type: 'Normal', reason: 'BindingConditionsPending', action: 'Scheduling', message } as const;
  eventsOf(pod.spec.schedulerName ?? 'default-scheduler').record(pod, note);
  const deadlineMs = clock.monotonicNow() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    if (awaited.every((claim) => isReady(claim, view))) return;
    const leftMs = deadlineMs - clock.monotonicNow();
    if (leftMs <= 0) throw new TerminalError('device binding timeout: context deadline exceeded');
    await changes.next(Math.min(POLL_MS, leftMs), signal);
  }
}

function isReady({ metadata }: ReadableClaim, view: ClusterView): boolean {
  const claim = view.get<ResourceClaim>('resource.k8s.io/resourceclaims', metadata);
  // One that was created a moment ago may not be seen yet.
  if (!claim) return false;
  const state = bindingStateOf(claim);
  if (state.is === 'failed') throw new TerminalError(`device binding failed: ${state.why}`);
  return state.is === 'ready';
}
