import type { PluginFactory } from '../framework/plugin.js';
import { unresolvable } from '../framework/status.js';
import { isSamePod, onPods } from './hints.js';

/** Keeps pods with scheduling gates out of the active queue. */
export const schedulingGates: PluginFactory = () => ({
  name: 'SchedulingGates',
  eventsToRegister: [
    onPods(['update-pod-scheduling-gates-eliminated'], (pod, _before, after) => isSamePod(pod, after)),
  ],
  preEnqueue({ spec: { schedulingGates: gates = [] } }) {
    if (gates.length === 0) return undefined;
    return unresolvable(`waiting for scheduling gates: [${gates.map(({ name }) => name).join(' ')}]`);
  },
});
