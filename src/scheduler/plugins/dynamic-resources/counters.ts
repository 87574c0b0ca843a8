import { nanosOf } from '@rollkeeper/machinery/kubernetes';
import type { AllocatedDevices } from './allocated-devices.js';
import { deviceKey } from './allocated-devices.js';
import type { Pool } from './gather-pools.js';
import type { Device } from './resource-api.js';

/** The rest of the counters that partitions of devices share, in billionths. */
export class Counters {
  private readonly left = new Map<Pool, Map<string, bigint>>();

  constructor(private readonly allocated: AllocatedDevices) {}

  /** Takes what the device needs; nothing where it is not there. */
  take(pool: Pool, device: Device): boolean {
    if (!device.consumesCounters || device.consumesCounters.length === 0) return true;
    this.change(pool, device, -1n);
    const left = this.ofPool(pool);
    if (usesOf(device).every(([name]) => (left.get(name) ?? 0n) >= 0n)) return true;
    this.giveBack(pool, device);
    return false;
  }

  giveBack(pool: Pool, device: Device): void {
    this.change(pool, device, 1n);
  }

  private change(pool: Pool, device: Device, sign: bigint): void {
    const left = this.ofPool(pool);
    for (const [name, amount] of usesOf(device)) {
      const before = left.get(name);
      if (before !== undefined) left.set(name, before + sign * amount);
    }
  }

  private ofPool(pool: Pool): Map<string, bigint> {
    let left = this.left.get(pool);
    if (left) return left;
    left = new Map();
    this.left.set(pool, left);
    for (const { spec } of pool.slices)
      for (const { counters = {}, name } of spec.sharedCounters ?? [])
        for (const [counter, { value }] of Object.entries(counters))
          left.set(`${name}/${counter}`, nanosOf(value));
    for (const { spec } of pool.slices)
      for (const device of spec.devices ?? []) {
        const key = deviceKey(pool.driver, pool.name, device.name);
        if (this.allocated.whole.has(key) || this.allocated.shares.has(key)) this.change(pool, device, -1n);
      }
    return left;
  }
}

function usesOf({ consumesCounters = [] }: Device): (readonly [name: string, amount: bigint])[] {
  return consumesCounters.flatMap(({ counterSet, counters = {} }) =>
    Object.entries(counters).map(([name, { value }]) => [`${counterSet}/${name}`, nanosOf(value)] as const),
  );
}
