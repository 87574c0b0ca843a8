import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Node } from '@rollkeeper/runtime';
import { clusterController, unlessGone } from '../shared/index.js';

/** Networks of nodes are parts of 10.0.0.0/8, as those that simulated nodes register with. */
const NETWORKS = 1024;
const SIZE = 2 ** 14;
const FIRST = 10 * 2 ** 24;
const PREFIX = 18;

function networkAt(index: number): string {
  const address = FIRST + index * SIZE;
  return `${[24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')}/${PREFIX}`;
}

/** The last network that no node has: simulated nodes take theirs from the first on. Undefined if all are taken. */
export function decideNetwork(taken: ReadonlySet<string>): string | undefined {
  for (let index = NETWORKS - 1; index >= 0; index--)
    if (!taken.has(networkAt(index))) return networkAt(index);
  return undefined;
}

export function networksOf({ spec }: DeepReadonly<Node>): readonly string[] {
  return spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : []);
}

/** Gives nodes that come without one a network for their pods. Source: k/k pkg/controller/nodeipam. */
export const nodeIpamController = clusterController<Node>(
  {
    name: 'node-ipam',
    serviceAccount: 'node-controller',
    for: Node,
    aliases: ['nodeipam'],
    eventSource: 'cidrAllocator',
  },
  () => {
    // The cache may not show recent assignments yet.
    const given = new Map<string, string>();
    return {
      // Two nodes processed concurrently could get the same network.
      workers: 1,
      predicates: [
        ({ object, type }) => type === 'deleted' || (type === 'added' && networksOf(object).length === 0),
      ],
      async reconcile({ name }, { client, events, lister, object: node }) {
        if (!node) {
          given.delete(name);
          return;
        }
        if (node.metadata.deletionTimestamp !== undefined || networksOf(node).length > 0) return;
        const nodes = lister(Node).list();
        for (const each of given.keys())
          if (!nodes.some(({ metadata }) => metadata.name === each)) given.delete(each);
        const others = [...given].filter(([each]) => each !== name).map(([, network]) => network);
        const network = decideNetwork(new Set([...nodes.flatMap(networksOf), ...others]));
        if (network === undefined) {
          const message = `Node ${name} status is now: CIDRNotAvailable`;
          events.record(node, { type: 'Normal', reason: 'CIDRNotAvailable', message });
          throw new Error('no network is left for the pods of the node');
        }
        given.set(name, network);
        const { resourceVersion, uid } = node.metadata;
        const body = { metadata: { uid, resourceVersion }, spec: { podCIDR: network, podCIDRs: [network] } };
        await unlessGone(client.patch(Node, { name }, { type: 'merge', body }));
      },
    };
  },
);
