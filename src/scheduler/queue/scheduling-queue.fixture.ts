import { FakeClock } from '@rollkeeper/machinery/clock';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { ClusterEventWithHint, EventAction } from '../framework/cluster-event.js';
import type { ReadablePod } from '../framework/node-info.js';
import type { QueuedPod, SchedulerPlugin } from '../framework/plugin.js';
import { unresolvable } from '../framework/status.js';
import type { ClusterChange } from './cluster-change.js';
import { SchedulingQueue } from './scheduling-queue.js';

/** A pod that has no node, with a priority and the labels that hints of these tests go by. */
export function waitingPod(
  name: string,
  { gates = [], priority = 0 }: { readonly priority?: number; readonly gates?: readonly string[] } = {},
): ReadablePod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    spec: {
      containers: [{ name: 'main', image: 'nginx' }],
      priority,
      schedulingGates: gates.map((gate) => ({ name: gate })),
    },
    status: { phase: 'Pending' },
  };
}

export const nodeChange = (...actions: readonly EventAction[]): ClusterChange => ({
  resource: 'nodes',
  actions,
});

const Gates: SchedulerPlugin = {
  name: 'Gates',
  preEnqueue: ({ spec }) => ((spec.schedulingGates ?? []).length > 0 ? unresolvable('gated') : undefined),
};

/** The events that help: `Cpu` room on nodes, `Taints` their taints, `Slow` what its hint says. */
const HINTS = new Map<string, readonly ClusterEventWithHint[]>([
  ['Cpu', [{ event: { resource: 'nodes', actions: ['add', 'update-node-allocatable'] } }]],
  ['Taints', [{ event: { resource: 'nodes', actions: ['add', 'update-node-taints'] } }]],
  ['Gates', [{ event: { resource: 'pods', actions: ['update-pod-scheduling-gates-eliminated'] } }]],
]);

export function aQueue({ hints = HINTS }: { readonly hints?: typeof HINTS } = {}) {
  const clock = new FakeClock();
  const incoming: string[] = [];
  const queue = new SchedulingQueue({
    clock,
    logger: silentLogger,
    view: { get: () => undefined, list: () => [] },
    less: byPriority,
    profileOf: () => ({ preEnqueue: [Gates], hints }),
    metrics: { incoming: (name, event) => incoming.push(`${name} ${event}`) },
  });
  /** The name of the next pod, or undefined if there is none at the moment. */
  const take = async () => {
    let taken: Awaited<ReturnType<SchedulingQueue['pop']>>;
    void queue.pop().then((entry) => (taken = entry));
    await clock.advance(0);
    return taken;
  };
  return { clock, incoming, queue, take };
}

function byPriority(one: QueuedPod, other: QueuedPod): boolean {
  const [a, b] = [one.pod.spec.priority ?? 0, other.pod.spec.priority ?? 0];
  return a === b ? one.since < other.since : a > b;
}

export const refusedBy = (...plugins: readonly string[]) => ({
  refusedBy: new Set(plugins),
  pendingOn: new Set<string>(),
});
