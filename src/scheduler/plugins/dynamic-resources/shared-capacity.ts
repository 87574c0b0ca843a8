import { formatQuantity, nanosOf, parseQuantity } from '@rollkeeper/machinery/kubernetes';
import type { AllocatedDevices } from './allocated-devices.js';
import type { Device, DeviceCapacity, WantedDevices } from './resource-api.js';

/** In billionths, by capacity. */
export type Consumed = ReadonlyMap<string, bigint>;

/** Follows how much of devices that can be shared is taken. */
export class SharedCapacity {
  private readonly taken = new Map<string, Map<string, bigint>>();

  constructor(private readonly allocated: AllocatedDevices) {}

  isShared(key: string): boolean {
    return this.allocated.shares.has(key) || this.taken.has(key);
  }

  /**
   * The capacity that the request would take of the device; undefined if that much is not there, or may not be asked
   * for.
   */
  consumptionOf(key: string, device: Device, wanted: WantedDevices): Consumed | undefined {
    const requests = wanted.capacity?.requests ?? {};
    if (Object.keys(requests).some((name) => !Object.hasOwn(device.capacity ?? {}, name))) return undefined;
    const consumed = new Map<string, bigint>();
    for (const [name, capacity] of Object.entries(device.capacity ?? {})) {
      const asked = Object.hasOwn(requests, name) ? nanosOf(requests[name]) : undefined;
      const amount = roundedUp(asked, capacity);
      const before =
        (this.allocated.shares.get(key)?.get(name) ?? 0n) + (this.taken.get(key)?.get(name) ?? 0n);
      if (amount === undefined || before + amount > nanosOf(capacity.value)) return undefined;
      consumed.set(name, amount);
    }
    return consumed;
  }

  take(key: string, consumed: Consumed): void {
    const taken = this.taken.get(key) ?? new Map<string, bigint>();
    for (const [name, amount] of consumed) taken.set(name, (taken.get(name) ?? 0n) + amount);
    this.taken.set(key, taken);
  }

  giveBack(key: string, consumed: Consumed): void {
    const taken = this.taken.get(key);
    if (!taken) return;
    for (const [name, amount] of consumed) taken.set(name, (taken.get(name) ?? 0n) - amount);
    if ([...taken.values()].every((amount) => amount === 0n)) this.taken.delete(key);
  }
}

/** Quantities for an allocation, in the form in which the device states its capacity. */
export function consumedQuantities(consumed: Consumed, { capacity = {} }: Device): Record<string, string> {
  return Object.fromEntries(
    [...consumed].map(([name, nanos]) => {
      const format = parseQuantity(String(capacity[name]?.value ?? ''))?.format ?? 'DecimalSI';
      return [name, formatQuantity({ nanos, format })];
    }),
  );
}

/**
 * To the next amount that the device's policy allows; undefined beyond the last. Of a request that says nothing of the capacity the
 * policy's default counts, or all of it.
 */
function roundedUp(asked: bigint | undefined, { requestPolicy, value }: DeviceCapacity): bigint | undefined {
  if (asked === undefined) return nanosOf(requestPolicy?.default ?? value);
  const { validRange, validValues } = requestPolicy ?? {};
  if (validRange?.min !== undefined) {
    const min = nanosOf(validRange.min);
    const step = nanosOf(validRange.step);
    const above = asked > min ? asked - min : 0n;
    const amount = min + (step > 0n ? ((above + step - 1n) / step) * step : above);
    return validRange.max !== undefined && amount > nanosOf(validRange.max) ? undefined : amount;
  }
  if (!validValues) return asked;
  const allowed = validValues.map((each) => nanosOf(each)).filter((each) => each >= asked);
  return allowed.length === 0 ? undefined : allowed.reduce((least, each) => (each < least ? each : least));
}
