import type { PluginFactory } from '../framework/plugin.js';
import { unresolvable } from '../framework/status.js';

const REFUSAL = unresolvable("node(s) didn't match the requested node name");

/** A pod that names its node runs there alone. Such pods are never queued; what-ifs may ask about them. */
export const nodeName: PluginFactory = () => ({
  name: 'NodeName',
  filter({ name }, { pod }) {
    const { nodeName: wanted } = pod.pod.spec;
    return !wanted || wanted === name ? undefined : REFUSAL;
  },
});
