import { nanosOf } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { ResourceClaim } from './resource-api.js';

/** The devices that claims have: whole ones, and shares of those that can be shared. */
export interface AllocatedDevices {
  readonly whole: ReadonlySet<string>;
  /** In billionths, by device and capacity. */
  readonly shares: ReadonlyMap<string, ReadonlyMap<string, bigint>>;
}

export function deviceKey(driver: string, pool: string, device: string): string {
  return `${driver}/${pool}/${device}`;
}

/** Access by administrators takes nothing. */
export function allocatedDevices(view: ClusterView): AllocatedDevices {
  const whole = new Set<string>();
  const shares = new Map<string, Map<string, bigint>>();
  for (const { status } of view.list<ResourceClaim>('resource.k8s.io/resourceclaims'))
    for (const each of status?.allocation?.devices?.results ?? []) {
      if (each.adminAccess === true) continue;
      const key = deviceKey(each.driver, each.pool, each.device);
      if (each.shareID === undefined) whole.add(key);
      else addShare(shares, key, each.consumedCapacity ?? {});
    }
  return { whole, shares };
}

function addShare(
  shares: Map<string, Map<string, bigint>>,
  key: string,
  consumed: Readonly<Record<string, string>>,
): void {
  const known = shares.get(key) ?? new Map<string, bigint>();
  for (const [name, amount] of Object.entries(consumed))
    known.set(name, (known.get(name) ?? 0n) + nanosOf(amount));
  shares.set(key, known);
}
