import { ADDRESSES_PER_NODE } from './node-simulator.options.js';

const POD_NETWORK = 10 * 2 ** 24;

/** Assigns pod addresses from each node's subnet of 10.0.0.0/8. Existing addresses are learnt from the pods. */
export class PodAddresses {
  private readonly byUid = new Map<string, string>();
  private readonly taken = new Set<string>();
  private readonly next = new Map<number, number>();

  /** A pod was seen with this address. */
  learn(uid: string, address: string): void {
    if (this.byUid.get(uid) === address) return;
    this.byUid.set(uid, address);
    this.taken.add(address);
  }

  /** The pod's address; stable until it is released. */
  addressFor(uid: string, nodeIndex: number): string {
    const known = this.byUid.get(uid);
    if (known !== undefined) return known;
    for (let attempt = 0; attempt < ADDRESSES_PER_NODE; attempt++) {
      const offset = this.next.get(nodeIndex) ?? 2;
      this.next.set(nodeIndex, offset + 1 >= ADDRESSES_PER_NODE - 1 ? 2 : offset + 1);
      const address = toDotted(POD_NETWORK + nodeIndex * ADDRESSES_PER_NODE + offset);
      if (this.taken.has(address)) continue;
      this.learn(uid, address);
      return address;
    }
    // More pods than addresses; the limit on pods per node prevents this.
    return toDotted(POD_NETWORK + nodeIndex * ADDRESSES_PER_NODE + 1);
  }

  /** Releases the address of a deleted pod. It is reused after all others of the node. */
  release(uid: string): void {
    const address = this.byUid.get(uid);
    if (address === undefined) return;
    this.byUid.delete(uid);
    this.taken.delete(address);
  }
}

/** The pod subnet of a node. */
export function podCidrOf(nodeIndex: number): string {
  return `${toDotted(POD_NETWORK + nodeIndex * ADDRESSES_PER_NODE)}/${32 - Math.log2(ADDRESSES_PER_NODE)}`;
}

/** The node's own address. */
export function nodeAddressOf(nodeIndex: number): string {
  return toDotted(172 * 2 ** 24 + 18 * 2 ** 16 + nodeIndex + 2);
}

function toDotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}
