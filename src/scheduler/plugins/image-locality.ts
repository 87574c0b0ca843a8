import type { NodeInfo, ReadablePod } from '../framework/node-info.js';
import { MAX_NODE_SCORE } from '../framework/plugin.js';
import type { PluginFactory, SchedulerPlugin } from '../framework/plugin.js';
import { normalizedImageName } from '../node/image-name.js';

const MIB = 1024 * 1024;
const LEAST = 23 * MIB;
const MOST_PER_CONTAINER = 1000 * MIB;

interface Images {
  readonly names: readonly string[];
  readonly containers: number;
}

/** Prefers nodes that have the pod's images already, the more so the larger and the more widespread they are. */
export const imageLocality: PluginFactory = () => {
  const plugin: SchedulerPlugin<undefined, Images> = {
    name: 'ImageLocality',
    preScore: ({ pod }) => ({ state: imagesOf(pod.pod) }),
    score({ images }, { snapshot }, { containers, names }) {
      const sum = sumOf(images, names, snapshot.nodes.length);
      const most = MOST_PER_CONTAINER * containers;
      const clamped = Math.min(Math.max(sum, LEAST), most);
      return Math.trunc((MAX_NODE_SCORE * (clamped - LEAST)) / (most - LEAST));
    },
  };
  return plugin;
};

function imagesOf({ spec: { containers, initContainers = [], volumes = [] } }: ReadablePod): Images {
  const used = [
    ...[...initContainers, ...containers].map(({ image }) => image),
    ...volumes.map(({ image }) => image?.reference),
  ];
  return {
    names: used.flatMap((name) => (name ? [normalizedImageName(name)] : [])),
    containers: containers.length + initContainers.length,
  };
}

function sumOf(images: NodeInfo['images'], names: readonly string[], allNodes: number): number {
  if (images.size === 0) return 0;
  let sum = 0;
  for (const name of names) {
    const state = images.get(name);
    if (state) sum += Math.trunc(Number(state.size) * (state.nodes / allNodes));
  }
  return sum;
}
