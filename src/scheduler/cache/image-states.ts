import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import type { ImageState, ReadableNode } from '../framework/node-info.js';
import { normalizedImageName } from '../node/image-name.js';

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
