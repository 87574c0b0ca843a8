import type { DeepReadonly, Node } from '@rollkeeper/machinery/kubernetes';
import { readinessOf } from './decide-node.js';

type ReadableNode = DeepReadonly<Node>;

/** `full`: no node of the zone is ready. `partial`: most are not, so the network is the likelier cause. */
type ZoneState = 'normal' | 'partial' | 'full';

/** kube-controller-manager's `--unhealthy-zone-threshold`. */
const UNHEALTHY_SHARE = 0.55;
/** Fewer nodes that are not ready are never a disruption of a zone with a ready one. */
const FEWEST_DISRUPTED = 3;
/** `--large-cluster-size-threshold`: no smaller zone loses pods in a partial disruption. */
const LARGE_ZONE = 50;
/** Nodes per second whose pods are driven away: `--node-eviction-rate` and `--secondary-node-eviction-rate`. */
const RATE = 0.1;
const SECONDARY_RATE = 0.01;
/** A node that must not lose its pods now is looked at again after this time, milliseconds. */
const LOOKS_AGAIN_MS = 10_000;

/** The region and the zone of a node, by its labels. */
export function zoneKeyOf({ metadata: { labels = {} } }: ReadableNode): string {
  const [region = '', zone = ''] = [
    labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'],
    labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'],
  ];
  return `${region}/${zone}`;
}

/** Source: `ComputeZoneState` in k/k pkg/controller/nodelifecycle. */
export function zoneStateOf(nodes: readonly ReadableNode[]): ZoneState {
  const notReady = nodes.filter((node) => readinessOf(node) !== 'True').length;
  if (notReady > 0 && notReady === nodes.length) return 'full';
  const isDisrupted = notReady >= FEWEST_DISRUPTED && notReady / nodes.length >= UNHEALTHY_SHARE;
  return isDisrupted ? 'partial' : 'normal';
}

/** How many nodes per second of a zone in this state may lose their pods. */
export function evictionRate(state: ZoneState, size: number): number {
  if (state !== 'partial') return RATE;
  return size > LARGE_ZONE ? SECONDARY_RATE : 0;
}

export interface Grant {
  readonly isGranted: boolean;
  /** When to ask again, milliseconds. */
  readonly againInMs?: number;
}

/** Lets nodes lose their pods one after the other in each zone. */
export class ZoneEvictions {
  private readonly last = new Map<string, { readonly node: string; readonly atMs: number }>();

  /** A new leader starts from the beginning. */
  reset(): void {
    this.last.clear();
  }

  /** Asks for one node of a zone. @param nodes of all zones */
  ask(node: ReadableNode, nodes: readonly ReadableNode[], nowMs: number): Grant {
    const zone = zoneKeyOf(node);
    const own = nodes.filter((each) => zoneKeyOf(each) === zone);
    const rate = evictionRate(zoneStateOf(own), own.length);
    if (rate === 0) return { isGranted: false, againInMs: LOOKS_AGAIN_MS };
    const last = this.last.get(zone);
    const nextMs = (last?.atMs ?? -Infinity) + 1000 / rate;
    // A node that was granted it, and could not be tainted, retries.
    if (nowMs < nextMs && last?.node !== node.metadata.name)
      return { isGranted: false, againInMs: Math.min(nextMs - nowMs, LOOKS_AGAIN_MS) };
    for (const [other, { atMs }] of this.last)
      if (nowMs - atMs > 1000 / SECONDARY_RATE) this.last.delete(other);
    this.last.set(zone, { node: node.metadata.name, atMs: nowMs });
    return { isGranted: true };
  }
}
