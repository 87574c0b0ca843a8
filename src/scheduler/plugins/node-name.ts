import type { PluginFactory } from '../framework/plugin.js';
import { unresolvable } from '../framework/status.js';
import { on } from './hints.js';

const REFUSAL = unresolvable("node(s) didn't match the requested node name");

/** A pod that names its node runs there alone. Such pods are never queued; what-ifs may ask about them. */
export const nodeName: PluginFactory = () => ({
  name: 'NodeName',
  eventsToRegister: [on('nodes', 'add')],
  filter({ name }, { pod }) {
    const { nodeName: wanted } = pod.pod.spec;
    return !wanted || wanted === name ? undefined : REFUSAL;
  },
});
