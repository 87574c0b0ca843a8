import { errorMessage } from '@rollkeeper/machinery/errors';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { CompileDeviceSelector, SelectableDevice } from '../../framework/device-selector.js';
import type { PooledCandidate } from './gather-pools.js';
import type { DeviceClass, DeviceToleration, ReadableClaim, WantedDevices } from './resource-api.js';

type Selectors = WantedDevices['selectors'];

/** Whether devices are what a request asks for, by the selectors of its class and its own. Each question is evaluated once. */
export class DeviceMatcher {
  private readonly known = new Map<unknown, Map<WantedDevices, boolean>>();

  constructor(private readonly compile: CompileDeviceSelector) {}

  /** @throws Error where an expression cannot be compiled, or fails on the device */
  matches(
    candidate: PooledCandidate,
    {
      deviceClass,
      wanted,
    }: { readonly deviceClass: DeepReadonly<DeviceClass>; readonly wanted: WantedDevices },
    claim: ReadableClaim,
  ): boolean {
    const { device } = candidate;
    let answers = this.known.get(device);
    if (!answers) this.known.set(device, (answers = new Map<WantedDevices, boolean>()));
    let answer = answers.get(wanted);
    if (answer === undefined) {
      answer =
        this.isOfClass(candidate, deviceClass) &&
        this.areMet(wanted.selectors, selectable(candidate), `claim ${keyOf(claim.metadata)}`);
      answers.set(wanted, answer);
    }
    return answer;
  }

  /** @throws Error where an expression cannot be compiled, or fails on the device */
  isOfClass(candidate: PooledCandidate, { metadata, spec }: DeepReadonly<DeviceClass>): boolean {
    return this.areMet(spec.selectors, selectable(candidate), `class ${metadata.name}`);
  }

  private areMet(selectors: Selectors, device: SelectableDevice, where: string): boolean {
    return (selectors ?? []).every(({ cel }, index) => {
      if (!cel)
        throw new Error(`${where}: selector #${index}: CEL expression empty (unsupported selector type?)`);
      try {
        return this.compile(cel.expression)(device);
      } catch (error) {
        throw new Error(`${where}: selector #${index}: CEL error: ${errorMessage(error)}`, { cause: error });
      }
    });
  }
}

function selectable({ device, pool }: PooledCandidate): SelectableDevice {
  return {
    driver: pool.driver,
    attributes: device.attributes ?? {},
    capacity: device.capacity ?? {},
    allowMultipleAllocations: device.allowMultipleAllocations === true,
  };
}

/** Whether a taint of the device keeps the request away from it. */
export function isTainted(
  { device }: Pick<PooledCandidate, 'device'>,
  { tolerations = [] }: WantedDevices,
): boolean {
  return (device.taints ?? []).some(
    (taint) =>
      (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') &&
      !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

type DeviceTaint = NonNullable<PooledCandidate['device']['taints']>[number];

function tolerates({ effect, key, operator, value = '' }: DeviceToleration, taint: DeviceTaint): boolean {
  return (
    (!effect || effect === taint.effect) &&
    (!key || key === taint.key) &&
    (operator === 'Exists' || value === (taint.value ?? ''))
  );
}
