import { defineSchedulerPlugin, unschedulable } from 'rollkeeper';
import type { NodeInfo, PodInfo } from 'rollkeeper';

/** Watts that are drawn in each rack. */
type Drawn = ReadonlyMap<string, number>;

const rackOf = ({ node }: NodeInfo): string => node.metadata.labels?.['example.com/rack'] ?? '';
const feedOf = ({ node }: NodeInfo): number => Number(node.metadata.labels?.['example.com/rack-watts'] ?? 0);
const wattsOf = ({ pod }: PodInfo): number => Number(pod.metadata.annotations?.['example.com/watts'] ?? 0);

function plus(drawn: Drawn, node: NodeInfo, watts: number): Drawn {
  return new Map([...drawn, [rackOf(node), (drawn.get(rackOf(node)) ?? 0) + watts]]);
}

/** No rack draws more than its feed gives, and pods go where most of it is left. */
export default defineSchedulerPlugin({
  name: 'RackPower',
  weight: 10,
  preFilter: ({ snapshot }): { state: Drawn } => ({
    state: snapshot.nodes.reduce<Drawn>(
      (drawn, node) =>
        plus(
          drawn,
          node,
          node.pods.reduce((sum, pod) => sum + wattsOf(pod), 0),
        ),
      new Map(),
    ),
  }),
  withPod: (drawn, pod, node) => plus(drawn, node, wattsOf(pod)),
  withoutPod: (drawn, pod, node) => plus(drawn, node, -wattsOf(pod)),
  filter: (node, { pod }, drawn) =>
    (drawn.get(rackOf(node)) ?? 0) + wattsOf(pod) > feedOf(node)
      ? unschedulable('node(s) had too little power left in their rack')
      : undefined,
  preScore: (_context, _feasible, drawn) => ({ state: drawn ?? new Map<string, number>() }),
  score: (node, { pod }, drawn) =>
    Math.round(100 * (1 - ((drawn.get(rackOf(node)) ?? 0) + wattsOf(pod)) / feedOf(node))),
});
