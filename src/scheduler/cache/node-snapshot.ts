import type { NodeInfo, Snapshot } from '../framework/node-info.js';

/** Nodes in their order. Immutable: a later snapshot shares with it what has not changed. */
export class NodeSnapshot implements Snapshot {
  private constructor(
    readonly nodes: readonly NodeInfo[],
    readonly withAffinity: readonly NodeInfo[],
    readonly withRequiredAntiAffinity: readonly NodeInfo[],
    readonly users: ReadonlyMap<string, number>,
    private readonly places: ReadonlyMap<string, number>,
  ) {}

  static of(nodes: readonly NodeInfo[], users: ReadonlyMap<string, number>): NodeSnapshot {
    const places = new Map(nodes.map(({ name }, index) => [name, index]));
    return new NodeSnapshot(
      nodes,
      nodes.filter(hasAffinity),
      nodes.filter(hasRequiredAntiAffinity),
      users,
      places,
    );
  }

  get(name: string): NodeInfo | undefined {
    const place = this.places.get(name);
    return place === undefined ? undefined : this.nodes[place];
  }

  claimUsers(key: string): number {
    return this.users.get(key) ?? 0;
  }

  /** The same nodes in the same order, some of them changed. */
  with(changed: readonly NodeInfo[], users: ReadonlyMap<string, number>): NodeSnapshot {
    const nodes = this.nodes.slice();
    let isAffinityTouched = false;
    let isAntiAffinityTouched = false;
    for (const info of changed) {
      const place = this.places.get(info.name);
      const before = place === undefined ? undefined : nodes[place];
      if (place === undefined || !before) continue;
      nodes[place] = info;
      isAffinityTouched ||= hasAffinity(before) || hasAffinity(info);
      isAntiAffinityTouched ||= hasRequiredAntiAffinity(before) || hasRequiredAntiAffinity(info);
    }
    return new NodeSnapshot(
      nodes,
      isAffinityTouched ? nodes.filter(hasAffinity) : this.withAffinity,
      isAntiAffinityTouched ? nodes.filter(hasRequiredAntiAffinity) : this.withRequiredAntiAffinity,
      users,
      this.places,
    );
  }
}

function hasAffinity({ podsWithAffinity }: NodeInfo): boolean {
  return podsWithAffinity.length > 0;
}

function hasRequiredAntiAffinity({ podsWithRequiredAntiAffinity }: NodeInfo): boolean {
  return podsWithRequiredAntiAffinity.length > 0;
}
