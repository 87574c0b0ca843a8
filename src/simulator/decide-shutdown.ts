import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodFinished, toDouble } from '@rollkeeper/machinery/kubernetes';
import { isCriticalPod } from './decide-pressure.js';
import type { CompiledNodeProfile } from './node-profile.js';
import type { NodeVerdict } from './node-verdict.js';
import { SHUT_DOWN } from './node-verdict.js';

type ReadablePod = DeepReadonly<Pod>;

interface ShutdownPlan {
  /** Pods that are ordered to stop now. */
  readonly orders: readonly { readonly pod: ReadablePod; readonly verdict: NodeVerdict }[];
  /** All have ended, or their time is over: the machine is off. */
  readonly isOver: boolean;
  /** When to look again at the latest, epoch milliseconds. */
  readonly wakeAtMs?: number;
}

type Periods = Pick<CompiledNodeProfile, 'criticalShutdownGraceMs' | 'shutdownGraceMs'>;

/**
 * The next step of a graceful shutdown: critical pods are ordered to stop when all others have ended, or their time is
 * over. Source: processShutdownEvent in pkg/kubelet/nodeshutdown.
 * @param pods those on the node
 * @param orderedMs when each pod was ordered to stop, by UID
 */
export function decideShutdown(
  pods: readonly ReadablePod[],
  startedMs: number,
  { criticalShutdownGraceMs, shutdownGraceMs }: Periods,
  orderedMs: ReadonlyMap<string, number>,
  nowMs: number,
): ShutdownPlan {
  const plainMs = shutdownGraceMs - criticalShutdownGraceMs;
  const active = pods.filter((pod) => !isPodFinished(pod));
  const groups = [
    { graceMs: plainMs, untilMs: startedMs + plainMs, members: active.filter((pod) => !isCriticalPod(pod)) },
    {
      graceMs: criticalShutdownGraceMs,
      untilMs: startedMs + shutdownGraceMs,
      members: active.filter(isCriticalPod),
    },
  ];
  const current = groups.find(({ members, untilMs }) => members.length > 0 && nowMs < untilMs);
  if (!current) return { orders: [], isOver: true };
  const fresh = current.members.filter(({ metadata }) => !orderedMs.has(metadata.uid ?? ''));
  const orders = fresh.map((pod) => ({ pod, verdict: verdictOn(pod, current.graceMs, nowMs) }));
  return { orders, isOver: false, wakeAtMs: current.untilMs };
}

function verdictOn({ spec }: ReadablePod, groupMs: number, nowMs: number): NodeVerdict {
  const ownMs = toDouble(spec.terminationGracePeriodSeconds ?? 30) * 1_000;
  return {
    reason: SHUT_DOWN,
    message: 'Pod was terminated in response to imminent node shutdown.',
    isDisruption: true,
    orderedMs: nowMs,
    graceMs: Math.min(ownMs, groupMs),
  };
}
