import type { DeepReadonly, Node } from '@rollkeeper/machinery/kubernetes';
import { Node as NODE, watch } from '@rollkeeper/runtime';
import { clusterController, unlessGone } from '../shared/index.js';

/** How long a kubelet may take Secrets and ConfigMaps from its cache, seconds. */
const TTL = 'node.alpha.kubernetes.io/ttl';

interface Step {
  readonly seconds: number;
  /** Numbers of nodes of the cluster; they overlap, so that one node more or less does not change it back and forth. */
  readonly from: number;
  readonly to: number;
}

const STEPS: readonly Step[] = [
  { seconds: 0, from: 0, to: 100 },
  { seconds: 15, from: 90, to: 500 },
  { seconds: 30, from: 450, to: 1000 },
  { seconds: 60, from: 900, to: 2000 },
  { seconds: 300, from: 1800, to: Infinity },
];

/**
 * The value of the annotation in a cluster with this many nodes. Source: k/k pkg/controller/ttl.
 * @param before the node's own
 */
export function decideTtl(nodes: number, before: string | undefined): string {
  const current = STEPS.find(({ seconds }) => String(seconds) === before);
  const fits = ({ from, to }: Step): boolean => nodes >= from && nodes <= to;
  const step = current && fits(current) ? current : STEPS.find(fits);
  return String(step?.seconds ?? 0);
}

function ttlOf({ metadata }: DeepReadonly<Node>): string | undefined {
  return metadata.annotations?.[TTL];
}

/** Says on each node how long it may keep Secrets and ConfigMaps, by the number of nodes. */
export const ttlController = clusterController<Node>({
  name: 'ttl',
  for: NODE,
  predicates: [
    (event) =>
      event.type === 'added' || (event.type === 'modified' && ttlOf(event.old) !== ttlOf(event.object)),
  ],
  watches: [
    watch(
      NODE,
      (_node, listerOf) => {
        // All nodes have the same value but for those that have just come.
        const nodes = listerOf(NODE).list();
        const others = nodes.filter((each) => ttlOf(each) !== undefined);
        const first = others[0];
        return first && decideTtl(nodes.length, ttlOf(first)) !== ttlOf(first)
          ? others.map(({ metadata }) => metadata)
          : [];
      },
      ({ type }) => type !== 'modified',
    ),
  ],
  async reconcile({ name }, { client, lister, object: node }) {
    if (!node || node.metadata.deletionTimestamp !== undefined) return;
    const ttl = decideTtl(lister(NODE).list().length, ttlOf(node));
    if (ttl === ttlOf(node)) return;
    const body = { metadata: { uid: node.metadata.uid, annotations: { [TTL]: ttl } } };
    await unlessGone(client.patch(NODE, { name }, { type: 'merge', body }));
  },
});
