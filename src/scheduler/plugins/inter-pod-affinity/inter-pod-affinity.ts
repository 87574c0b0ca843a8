import type { PluginFactory, SchedulerPlugin } from '../../framework/plugin.js';
import { SKIP } from '../../framework/status.js';
import { compileArgs, interPodAffinityArgs } from '../plugin-args.js';
import type { TopologyCounts } from '../topology-counts.js';
import { affinityEvents } from './affinity-events.js';
import { scorePreferred, spreadOut, weighPreferred } from './preferred-terms.js';
import type { RequiredState } from './required-terms.js';
import { changeRequired, countRequired, filterRequired } from './required-terms.js';

/** Keeps pods near the pods that their terms ask for, and away from those that they exclude. */
export const interPodAffinity: PluginFactory = (args, { view }) => {
  const options = compileArgs(interPodAffinityArgs, args);
  const plugin: SchedulerPlugin<RequiredState, TopologyCounts> = {
    name: 'InterPodAffinity',
    eventsToRegister: affinityEvents(view),
    preFilter(context) {
      const state = countRequired(context);
      return state ? { state } : { status: SKIP };
    },
    withPod: (state, added, node, { pod }) => changeRequired(state, added, node, { by: 1, pod }),
    withoutPod: (state, removed, node, { pod }) => changeRequired(state, removed, node, { by: -1, pod }),
    filter: filterRequired,
    preScore(context) {
      const state = weighPreferred(context, options);
      return state ? { state } : { status: SKIP };
    },
    score: (node, _context, weights) => scorePreferred(node, weights),
    normalizeScores: spreadOut,
  };
  return plugin;
};
