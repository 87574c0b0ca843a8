import type { PluginFactory, QueuedPod } from '../framework/plugin.js';

/** Higher priority first; of equals the one that waits longer. */
export const prioritySort: PluginFactory = () => ({
  name: 'PrioritySort',
  less(one, other) {
    const difference = priorityOf(one) - priorityOf(other);
    return difference > 0 || (difference === 0 && one.since < other.since);
  },
});

function priorityOf({ pod }: QueuedPod): number {
  return pod.spec.priority ?? 0;
}
