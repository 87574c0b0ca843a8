import type { ImageState, ReadableNode } from '../framework/node-info.js';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { normalizedImageName } from '../node/image-name.js';

/** Nodes in the order of their search: one of each zone in turn, zones and their nodes as they came. */
export class NodeOrder {
  private readonly zones = new Map<string, Set<string>>();
  private readonly zoneOf = new Map<string, string>();

  /** @returns whether this changed the order */
  set(node: ReadableNode): boolean {
    const { name } = node.metadata;
    const zone = zoneKey(node);
    if (this.zoneOf.get(name) === zone) return false;
    this.remove(name);
    this.zoneOf.set(name, zone);
    const members = this.zones.get(zone);
    if (members) members.add(name);
    else this.zones.set(zone, new Set([name]));
    return true;
  }

  remove(name: string): void {
    const zone = this.zoneOf.get(name);
    if (zone === undefined) return;
    this.zoneOf.delete(name);
    const members = this.zones.get(zone);
    members?.delete(name);
    if (members?.size === 0) this.zones.delete(zone);
  }

  names(): string[] {
    const zones = [...this.zones.values()].map((members) => [...members]);
    const names: string[] = [];
    for (let round = 0; names.length < this.zoneOf.size; round++)
      for (const members of zones) {
        const name = members[round];
        if (name !== undefined) names.push(name);
      }
    return names;
  }
}

/** Region and zone together, by the labels of today or those of old; empty where the node has neither. */
function zoneKey({ metadata: { labels = {} } }: ReadableNode): string {
  const region =
    labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'];
  const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'];
  return region === undefined && zone === undefined ? '' : `${region ?? ''}\0${zone ?? ''}`;
}

class SharedImage implements ImageState {
  readonly holders = new Set<string>();

  /** @param size as the first node said that had it */
  constructor(readonly size: Int64) {}

  get nodes(): number {
    return this.holders.size;
  }
}

/** The images of the nodes. The states are shared by all nodes and change with them. */
export class ImageStates {
  private readonly byName = new Map<string, SharedImage>();
  private readonly namesOf = new Map<string, readonly string[]>();

  /** @returns the node's images */
  set({ metadata, status }: ReadableNode): ReadonlyMap<string, ImageState> {
    const images = new Map<string, ImageState>();
    const before = this.namesOf.get(metadata.name) ?? [];
    for (const { names = [], sizeBytes = 0 } of status?.images ?? [])
      for (const given of names) {
        const name = normalizedImageName(given);
        let state = this.byName.get(name);
        if (!state) this.byName.set(name, (state = new SharedImage(sizeBytes)));
        state.holders.add(metadata.name);
        images.set(name, state);
      }
    this.drop(
      metadata.name,
      before.filter((name) => !images.has(name)),
    );
    this.namesOf.set(metadata.name, [...images.keys()]);
    return images;
  }

  remove(node: string): void {
    this.drop(node, this.namesOf.get(node) ?? []);
    this.namesOf.delete(node);
  }

  private drop(node: string, names: readonly string[]): void {
    for (const name of names) {
      const state = this.byName.get(name);
      state?.holders.delete(node);
      if (state?.holders.size === 0) this.byName.delete(name);
    }
  }
}
