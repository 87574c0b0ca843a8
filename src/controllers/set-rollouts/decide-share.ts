/** A pod of a DaemonSet, as far as a rollout by shares of the nodes goes. */
export interface SharedPod {
  readonly name: string;
  /** The name of the node that it is on, or meant for; empty if it is for none. */
  readonly node: string;
  /** The name of its revision. */
  readonly revision: string;
  readonly isAvailable: boolean;
  readonly isTerminating: boolean;
}

/** A DaemonSet, and how far its policies let the rollout go. */
export interface ShareView {
  /** The nodes that should have a pod. */
  readonly nodes: number;
  /** The revision of the template that is asked for: every pod that is recreated is of it. */
  readonly update: string;
  /** The revision that the policies choose. */
  readonly runs: string;
  /** On how many nodes the update may be. */
  readonly most: number;
  /** How many nodes may be without an available pod at once. */
  readonly maxUnavailable: number;
  readonly pods: readonly SharedPod[];
}

/**
 * The names of the pods of a DaemonSet to delete, so that its own controller recreates them from the template that is asked for. Those that
 * are not available go first, because nothing is lost with them; others in the order of their nodes' names, and only as many as may be
 * missing at once. No pod goes while another revision is to run: it would come back as the wrong one.
 *
 * 10 nodes at the step of 20 %, one may be unavailable: one pod, and another one once the first is available.
 */
export function decideShare({
  maxUnavailable,
  most,
  nodes,
  pods,
  runs,
  update,
}: ShareView): readonly string[] {
  if (runs !== update) return [];
  const isOld = ({ isTerminating, revision }: SharedPod): boolean => !isTerminating && revision !== update;
  const old = pods.filter(isOld);
  // Each pod that names no node has one of its own.
  const places = [...Map.groupBy(pods, ({ name, node }) => node || `/${name}`).values()];
  const missing = Math.max(0, nodes - places.length);
  // A node whose pod is being recreated has been given to the update.
  const given = missing + places.filter((place) => !place.some(isOld)).length;
  const room = Math.max(0, most - given);
  // A pod may stay on a node that should not get one: it makes up for none that another node is without.
  const unavailable = missing + places.filter((place) => !place.some(isServing)).length;
  const spare = Math.max(0, maxUnavailable - unavailable);
  const broken = old
    .filter(({ isAvailable }) => !isAvailable)
    .toSorted(byNode)
    .slice(0, room);
  const whole = old.filter(({ isAvailable }) => isAvailable).toSorted(byNode);
  return [...broken, ...whole.slice(0, Math.min(spare, room - broken.length))].map(({ name }) => name);
}

function isServing({ isAvailable, isTerminating }: SharedPod): boolean {
  return isAvailable && !isTerminating;
}

function byNode(a: SharedPod, b: SharedPod): number {
  return a.node < b.node ? -1 : a.node > b.node ? 1 : 0;
}
