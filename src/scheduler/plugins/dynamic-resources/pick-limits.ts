import { nanosOf } from '@rollkeeper/machinery/kubernetes';
import type { AllocatedDevices } from './allocated-devices.js';
import { deviceKey } from './allocated-devices.js';
import type { Pool } from './gather-pools.js';
import type { Device, DeviceAttribute, DeviceConstraint } from './resource-api.js';

/** Follows which devices were picked, and says which may still be. What was added is taken away in reverse order. */
export interface ConstraintTracker {
  /** @param requests names by which the constraint may mean the request of this device */
  add(requests: readonly string[], device: Device, driver: string): boolean;
  remove(requests: readonly string[]): void;
}

/** @throws Error for a constraint of a kind that is not known */
export function trackerOf(constraint: DeviceConstraint): ConstraintTracker {
  const { distinctAttribute, matchAttribute, requests = [] } = constraint;
  const attribute = matchAttribute ?? distinctAttribute;
  if (attribute === undefined) throw new Error('empty constraint (unsupported constraint type?)');
  const isMeant = (names: readonly string[]): boolean =>
    requests.length === 0 || names.some((name) => requests.includes(name));
  const seen: string[] = [];
  const isFine =
    matchAttribute === undefined
      ? (value: string) => !seen.includes(value)
      : (value: string) => seen.length === 0 || seen[0] === value;
  return {
    add(names, device, driver) {
      if (!isMeant(names)) return true;
      const found = attributeOf(device, driver, attribute);
      const value = found && textOf(found);
      if (value === undefined || !isFine(value)) return false;
      seen.push(value);
      return true;
    },
    remove(names) {
      if (isMeant(names)) seen.pop();
    },
  };
}

/** Attributes of the driver itself may leave its name out. */
function attributeOf(
  { attributes = {} }: Device,
  driver: string,
  fullName: string,
): DeviceAttribute | undefined {
  if (Object.hasOwn(attributes, fullName)) return attributes[fullName];
  const short = fullName.startsWith(`${driver}/`) ? fullName.slice(driver.length + 1) : undefined;
  return short !== undefined && Object.hasOwn(attributes, short) ? attributes[short] : undefined;
}

/** Distinguishes values of different types too. */
function textOf(attribute: DeviceAttribute): string | undefined {
  for (const type of ['string', 'int', 'bool', 'version'] as const)
    if (attribute[type] !== undefined) return `${type} ${attribute[type]}`;
  return undefined;
}

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
