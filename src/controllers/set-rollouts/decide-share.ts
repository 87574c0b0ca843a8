/** A pod of a DaemonSet, as far as a rollout by shares of the nodes goes. */
export interface SharedPod {
  readonly name: string;
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
  const living = pods.filter(({ isTerminating }) => !isTerminating);
  const old = living.filter(({ revision }) => revision !== update);
  // A node whose pod is being recreated has been given to the update.
  const room = Math.max(0, most - Math.max(0, nodes - old.length));
  const available = living.filter(({ isAvailable }) => isAvailable).length;
  const spare = Math.max(0, maxUnavailable - Math.max(0, nodes - available));
  const broken = old
    .filter(({ isAvailable }) => !isAvailable)
    .toSorted(byNode)
    .slice(0, room);
  const whole = old.filter(({ isAvailable }) => isAvailable).toSorted(byNode);
  return [...broken, ...whole.slice(0, Math.min(spare, room - broken.length))].map(({ name }) => name);
}

function byNode(a: SharedPod, b: SharedPod): number {
  return a.node < b.node ? -1 : a.node > b.node ? 1 : 0;
}
