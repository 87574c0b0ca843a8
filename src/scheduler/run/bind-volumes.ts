import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError, TerminalError } from '@rollkeeper/machinery/errors';
import {
  BIND_COMPLETED,
  PersistentVolume,
  PersistentVolumeClaim,
  SELECTED_NODE,
  givingPatch,
  isJsonObject,
} from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/runtime';
import type { ReadablePod } from '../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin, SchedulingContext } from '../framework/plugin.js';
import { unschedulable } from '../framework/status.js';
import type { VolumePlan } from '../plugins/volumes/plan-volumes.js';
import { isPlan, planVolumes } from '../plugins/volumes/plan-volumes.js';
import { claimedVolumesOf } from '../plugins/volumes/pod-claims.js';
import { sortClaims } from '../plugins/volumes/sort-claims.js';
import { queueKeyOf } from '../queue/queued-pod.js';
import type { AssumedObjects } from './assumed-objects.js';
import type { ChangeSignal } from './change-signal.js';

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;

interface VolumeParts {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly assumed: AssumedObjects;
  /** The changes of claims. */
  readonly claimChanges: ChangeSignal;
  /** The pod is going to this node, which others should know while it waits. */
  readonly expectNode: (pod: ReadablePod, node: string, signal: AbortSignal) => void;
}

const POLL_MS = 1000;
const DEFAULT_TIMEOUT_SECONDS = 600;
const NO_PLAN: VolumePlan = { bind: [], provision: [] };

/** `VolumeBinding` with what it does once a node is chosen: it takes volumes, has others made, and waits until the claims are bound. */
export function bindingVolumes(base: PluginFactory, parts: VolumeParts): PluginFactory {
  return (args, handle) => {
    const timeoutMs = timeoutOf(args) * 1000;
    const plugin: SchedulerPlugin = base(args, handle);
    const plans = new Map<string, VolumePlan>();
    return {
      ...plugin,
      reserve(context, node) {
        const plan = planOn(context, node);
        if (!plan) return Promise.resolve(unschedulable('the volumes of the node are taken meanwhile'));
        if (plan.bind.length + plan.provision.length === 0) return Promise.resolve(undefined);
        plans.set(queueKeyOf(context.pod.pod), plan);
        assume(parts.assumed, plan, node);
        return Promise.resolve(undefined);
      },
      unreserve({ pod: { pod } }) {
        const plan = plans.get(queueKeyOf(pod));
        plans.delete(queueKeyOf(pod));
        if (plan) restore(parts.assumed, plan);
      },
      async preBind({ pod: { pod }, view }, node, signal) {
        const plan = plans.get(queueKeyOf(pod));
        if (!plan) return undefined;
        parts.expectNode(pod, node, signal);
        await write(parts.client, plan, node, signal);
        await untilBound(pod, node, { ...parts, view, timeoutMs }, signal);
        plans.delete(queueKeyOf(pod));
        return undefined;
      },
    };
  };
}

function planOn({ pod: { pod }, snapshot, view }: SchedulingContext, name: string): VolumePlan | undefined {
  const node = snapshot.get(name)?.node;
  const sorted = sortClaims(pod, view);
  if (!sorted) return NO_PLAN;
  if ('code' in sorted || !node) return undefined;
  const plan = planVolumes(sorted, node, view);
  return isPlan(plan) ? plan : undefined;
}

function assume(assumed: AssumedObjects, { bind, provision }: VolumePlan, node: string): void {
  for (const { claim, volume } of bind) {
    const { name, namespace, uid } = claim.metadata;
    const claimRef = { ...volume.spec.claimRef, kind: 'PersistentVolumeClaim', name, namespace, uid };
    const bound: Volume = { ...volume, spec: { ...volume.spec, claimRef } };
    assumed.assume('persistentvolumes', bound);
  }
  for (const claim of provision) {
    const annotations = { ...claim.metadata.annotations, [SELECTED_NODE]: node };
    assumed.assume('persistentvolumeclaims', { ...claim, metadata: { ...claim.metadata, annotations } });
  }
}

function restore(assumed: AssumedObjects, { bind, provision }: VolumePlan): void {
  for (const { volume } of bind) assumed.restore('persistentvolumes', volume.metadata);
  for (const claim of provision) assumed.restore('persistentvolumeclaims', claim.metadata);
}

/** The volume controllers do the rest. Source: `bindAPIUpdate` in k/k pkg/scheduler/framework/plugins/volumebinding. */
async function write(
  client: ApiClient,
  { bind, provision }: VolumePlan,
  node: string,
  signal: AbortSignal,
): Promise<void> {
  for (const { claim, volume } of bind) {
    const body = givingPatch(volume, claim);
    if (!body) continue;
    await client.patch(PersistentVolume, { name: volume.metadata.name }, { type: 'merge', body }, { signal });
  }
  for (const { metadata } of provision) {
    if (metadata.annotations?.[SELECTED_NODE] === node) continue;
    const { name, namespace, resourceVersion, uid } = metadata;
    const body = { metadata: { uid, resourceVersion, annotations: { [SELECTED_NODE]: node } } };
    await client.patch(PersistentVolumeClaim, { namespace, name }, { type: 'merge', body }, { signal });
  }
}

interface Waiting extends Pick<VolumeParts, 'claimChanges' | 'clock'>, Pick<SchedulingContext, 'view'> {
  readonly timeoutMs: number;
}

async function untilBound(
  pod: ReadablePod,
  node: string,
  { claimChanges, clock, timeoutMs, view }: Waiting,
  signal: AbortSignal,
): Promise<void> {
  const deadlineMs = clock.monotonicNow() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    if (claimedVolumesOf(pod, view).every(({ claim, name }) => isReady(name, claim, node))) return;
    if (clock.monotonicNow() >= deadlineMs)
      throw new TerminalError(`binding volumes: timed out after ${timeoutMs / 1000} s`);
    await claimChanges.next(POLL_MS, signal);
  }
}

/** @throws TerminalError if it will not become so on this node */
function isReady(name: string, claim: Claim | undefined, node: string): boolean {
  if (!claim) throw new TerminalError(`persistentvolumeclaim "${name}" does not exist any more`);
  if (isBound(claim)) return true;
  const selected = claim.metadata.annotations?.[SELECTED_NODE];
  // A provisioner takes the annotation away where it cannot make the volume.
  if (selected !== undefined && selected !== node)
    throw new TerminalError(`persistentvolumeclaim "${name}" is being provisioned for node ${selected}`);
  return false;
}

function isBound({ metadata, spec }: Claim): boolean {
  return Boolean(spec.volumeName) && metadata.annotations?.[BIND_COMPLETED] !== undefined;
}

function timeoutOf(args: unknown): number {
  const given = isJsonObject(args) ? args['bindTimeoutSeconds'] : undefined;
  if (given === undefined) return DEFAULT_TIMEOUT_SECONDS;
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0) return given;
  throw new InvalidOptionError('bindTimeoutSeconds', 'is not a whole number of seconds from 0');
}
