import type { PluginFactory, SchedulerPlugin } from '../../framework/plugin.js';
import { SKIP, unresolvable } from '../../framework/status.js';
import { isPlan, planVolumes } from './plan-volumes.js';
import type { SortedClaims } from './sort-claims.js';
import { sortClaims } from './sort-claims.js';

/**
 * Keeps pods to nodes that can reach their volumes, and for claims that wait for their first consumer to those where a volume is free
 * or can be made. What is to be done on the chosen node, {@link planVolumes} says.
 */
export const volumeBinding: PluginFactory = () => {
  const plugin: SchedulerPlugin<SortedClaims> = {
    name: 'VolumeBinding',
    preFilter({ pod: { pod }, view }) {
      const sorted = sortClaims(pod, view);
      if (!sorted) return { status: SKIP };
      return 'code' in sorted ? { status: sorted } : { state: sorted };
    },
    filter({ node }, { view }, claims) {
      const found = planVolumes(claims, node, view);
      return isPlan(found) ? undefined : unresolvable(...found);
    },
  };
  return plugin;
};
