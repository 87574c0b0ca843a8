import type { Clock } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { controllerOf } from '@rollkeeper/machinery/kubernetes';
import type { ControllerDefinition, ReconcileContext, ReconcileResult } from '@rollkeeper/runtime';
import { Pod, defineController, indexBy, isConflict, unlessGone } from '@rollkeeper/runtime';
import { readDraining } from '../../shared/index.js';
import type { DrainingPod } from '../../shared/index.js';
import type { HttpSender } from '../policies/checks/common/http-sender.js';
import { UndiciSender } from '../policies/checks/common/http-sender.js';
import type { DrainDecision } from './decide-draining.js';
import { decideDraining, decideProbed } from './decide-draining.js';
import { probePod } from './probe-pod.js';
import { NO_SLOT_MS, NamespaceSlots } from '../policies/common/namespace-slots.js';

/** On a Deployment: a pod that drained is empty, and goes. */
export const POD_DRAINED = 'PodDrained';
/** On a Deployment: a pod that drained goes although it is not said to be empty. */
export const POD_DRAIN_ENDED = 'PodDrainEnded';

/** On a Deployment: it is not known whether a pod that drains is empty. */
export const POD_DRAIN_UNKNOWN = 'PodDrainUnknown';

/** After so many probes in a row without a number an Event says so. */
const TOLD_AFTER = 3;
const DRAINING_INDEX = 'draining';
/** From one look at a pod to the next, milliseconds; doubles while it does not answer. */
const INTERVAL_MS = 10_000;
const LONGEST_INTERVAL_MS = 120_000;
const WORKERS = 12;
const PROBES_OF_NAMESPACE = 4;

/** A sender that is closed after its request. */
type DrainSender = HttpSender & { close(): Promise<void> };

export interface DrainControllerOptions {
  /** @default one that follows no redirect, and uses no proxy */
  readonly senderOf?: (clock: Pick<Clock, 'setTimeout'>) => DrainSender;
  /** @default 12 in all, 4 of one namespace */
  readonly slots?: NamespaceSlots;
}

/**
 * Deletes pods of old versions once they are empty, by the annotation `keep-old` (docs/ROLLOUTS.md). Each pod carries what its end follows from,
 * so this works after any crash, and for pods whose Deployment was deleted without them.
 */
export function createDrainController({
  senderOf = (clock) => new UndiciSender(clock, () => undefined),
  slots = new NamespaceSlots({ inAll: WORKERS, ofNamespace: PROBES_OF_NAMESPACE }),
}: DrainControllerOptions = {}): ControllerDefinition {
  return defineController<Pod>(
    {
      ...{ name: 'session-drain', for: Pod, workers: WORKERS, queue: 'local', perNamespace: true },
      serviceAccount: 'replicaset-controller',
    },
    ({ clock }) => {
      /** How often in a row a pod did not answer, by its key: known to this process alone. */
      const silent = new Map<string, number>();
      const probe = async (pod: DeepReadonly<Pod>, draining: DrainingPod, signal: AbortSignal) => {
        const { until } = draining.rule;
        if (until.kind === 'annotation') return undefined;
        const sender = senderOf(clock);
        try {
          return await slots.run(pod.metadata.namespace ?? '', () => probePod(pod, until, sender, signal));
        } finally {
          await sender.close();
        }
      };
      return {
        predicates: [(event) => event.type === 'deleted' || readDraining(event.object) !== undefined],
        indexes: [BY_DEPLOYMENT],
        async reconcile({ key, name, namespace }, { client, events, lister, object, signal }) {
          const draining = object && readDraining(object);
          if (!draining || object.metadata.deletionTimestamp !== undefined) {
            silent.delete(key);
            slots.forget(key);
            return {};
          }
          const others = lister(Pod).byIndex(DRAINING_INDEX, indexKeyOf(object, draining));
          const foreseen = decideDraining(object, draining, others, clock.now());
          const noSlotMs = foreseen.act === 'probe' ? slots.waitOf(key, namespace) : undefined;
          if (foreseen.act === 'probe' && noSlotMs !== undefined)
            return { requeueAfterMs: Math.min(noSlotMs, foreseen.leftMs) };
          // Caches keep no addresses.
          const pod = await unlessGone(client.get<Pod>(Pod, { namespace, name }, { signal }));
          if (!pod || pod.metadata.uid !== object.metadata.uid || !readDraining(pod)) return {};
          let decision = decideDraining(pod, draining, others, clock.now());
          if (decision.act === 'probe') {
            const reading = await probe(pod, draining, signal);
            if (!reading) return { requeueAfterMs: NO_SLOT_MS };
            if ('unknown' in reading) silent.set(key, (silent.get(key) ?? 0) + 1);
            else silent.delete(key);
            if ('unknown' in reading && silent.get(key) === TOLD_AFTER)
              events.record(toldOf(pod), {
                type: 'Warning',
                reason: POD_DRAIN_UNKNOWN,
                message: `Pod ${name} drains, and does not say whether it is empty: ${reading.unknown}`,
              });
            decision = decideProbed(draining, reading, decision.leftMs);
          }
          return conclude(pod, decision, silent.get(key) ?? 0, { client, events, signal });
        },
      };
    },
  );
}

const BY_DEPLOYMENT = indexBy<Pod>(Pod, DRAINING_INDEX, (pod) => {
  const draining = readDraining(pod);
  return draining ? [indexKeyOf(pod, draining)] : [];
});

/** A note of a pod in another namespace may claim any UID: those pods drain for no Deployment of this one. */
function indexKeyOf({ metadata }: DeepReadonly<Pod>, { deploymentUid }: DrainingPod): string {
  return `${metadata.namespace}/${deploymentUid}`;
}

async function conclude(
  pod: DeepReadonly<Pod>,
  decision: DrainDecision,
  unanswered: number,
  { client, events, signal }: Pick<ReconcileContext, 'client' | 'events' | 'signal'>,
): Promise<ReconcileResult> {
  if (decision.act !== 'delete') {
    const intervalMs = Math.min(INTERVAL_MS * 2 ** Math.min(unanswered, 10), LONGEST_INTERVAL_MS);
    return { requeueAfterMs: Math.min(intervalMs, decision.leftMs) };
  }
  const { name, namespace, uid } = pod.metadata;
  try {
    await unlessGone(client.delete<Pod>(Pod, { namespace, name }, { preconditions: { uid }, signal }));
  } catch (error) {
    // Another pod of its name.
    if (isConflict(error)) return {};
    throw error;
  }
  events.record(toldOf(pod), {
    type: decision.isForced ? 'Warning' : 'Normal',
    reason: decision.isForced ? POD_DRAIN_ENDED : POD_DRAINED,
    message: `Deleted pod ${name}, which drained: ${decision.why}`,
  });
  return {};
}

/** The Deployment that owns it; the pod itself if there is none. */
function toldOf(pod: DeepReadonly<Pod>): DeepReadonly<KubernetesObject> {
  const owner = controllerOf(pod);
  if (!owner) return pod;
  const { apiVersion, kind, name, uid } = owner;
  return { apiVersion, kind, metadata: { namespace: pod.metadata.namespace, name, uid } };
}
