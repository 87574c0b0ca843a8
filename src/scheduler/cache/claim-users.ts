import { claimNamesOf } from '@rollkeeper/machinery/kubernetes';
import type { PodInfo } from '../framework/node-info.js';

/** How many pods on nodes use each claim. */
export class ClaimUsers {
  private readonly users = new Map<string, number>();

  count(key: string): number {
    return this.users.get(key) ?? 0;
  }

  add(pod: PodInfo): void {
    for (const key of claimKeysOf(pod)) this.users.set(key, this.count(key) + 1);
  }

  remove(pod: PodInfo): void {
    for (const key of claimKeysOf(pod)) {
      const left = this.count(key) - 1;
      if (left > 0) this.users.set(key, left);
      else this.users.delete(key);
    }
  }

  entries(): ReadonlyMap<string, number> {
    return new Map(this.users);
  }
}

function claimKeysOf({ pod }: PodInfo): ReadonlySet<string> {
  if (!pod.spec.volumes) return NONE;
  return new Set(claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`));
}

const NONE: ReadonlySet<string> = new Set();
