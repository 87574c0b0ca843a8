import type { DeepReadonly, Int64 } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { CompileDeviceSelector } from '../../framework/device-selector.js';
import type { NodeInfo } from '../../framework/node-info.js';
import { allocatedDevices, deviceKey } from './allocated-devices.js';
import { deviceClassOf } from './device-classes.js';
import { DeviceMatcher } from './device-matcher.js';
import { gatherPools } from './gather-pools.js';
import type { DeviceClass, ResourceSlice } from './resource-api.js';

/** How many devices of a class a node can use, and how many of them claims have. */
export interface DeviceTotals {
  readonly all: Int64;
  readonly taken: Int64;
}

export type DeviceTotalsOn = (node: NodeInfo) => DeviceTotals;

/**
 * Counts the devices that serve an extended resource, as scores need it. Undefined where no device class does.
 * Source: calculateDRAResourceTotals in k/k pkg/scheduler/framework/plugins/noderesources.
 */
export function deviceTotals(
  resource: string,
  view: ClusterView,
  compile: CompileDeviceSelector | undefined,
): DeviceTotalsOn | undefined {
  const deviceClass = deviceClassOf(resource, view);
  if (!deviceClass || !compile) return undefined;
  const slices = view.list<ResourceSlice>('resource.k8s.io/resourceslices');
  const { shares, whole } = allocatedDevices(view);
  const matcher = new DeviceMatcher(compile);
  return ({ node }) => {
    let [all, taken] = [0, 0];
    for (const pool of gatherPools(slices, node))
      for (const pooled of pool.devices) {
        if (!isOfClass(matcher, { ...pooled, pool }, deviceClass)) continue;
        all++;
        const key = deviceKey(pool.driver, pool.name, pooled.device.name);
        if (whole.has(key) || shares.has(key)) taken++;
      }
    return { all, taken };
  };
}

/** A device on which the class's expression fails is none of the class. */
function isOfClass(
  matcher: DeviceMatcher,
  candidate: Parameters<DeviceMatcher['isOfClass']>[0],
  deviceClass: DeepReadonly<DeviceClass>,
): boolean {
  try {
    return matcher.isOfClass(candidate, deviceClass);
  } catch {
    return false;
  }
}
