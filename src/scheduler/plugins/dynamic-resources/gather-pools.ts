import { isSelectedByTerms } from '@rollkeeper/machinery/kubernetes';
import type { ReadableNode } from '../../framework/node-info.js';
import type { Device, NodeSelection, ReadableSlice } from './resource-api.js';

/** Devices of one driver that are managed together, as far as the node can use them. */
export interface Pool {
  readonly driver: string;
  readonly name: string;
  /** The driver is replacing the pool's slices, so that not all are there. */
  readonly isIncomplete: boolean;
  /** Two devices have one name. */
  readonly isInvalid: boolean;
  readonly devices: readonly PooledDevice[];
  /** All slices of the newest generation, also those of other nodes: their devices use the same counters. */
  readonly slices: readonly ReadableSlice[];
}

interface PooledDevice {
  readonly device: Device;
  readonly slice: ReadableSlice;
}

/** A device with the pool that it belongs to. */
export interface PooledCandidate extends PooledDevice {
  readonly pool: Pool;
}

/**
 * The pools that have devices for the node: those whose devices are ready at once before those that have to be prepared. Slices of older
 * generations do not count.
 */
export function gatherPools(slices: readonly ReadableSlice[], node: ReadableNode): Pool[] {
  const byPool = new Map<string, ReadableSlice[]>();
  for (const slice of slices) {
    const key = `${slice.spec.driver}/${slice.spec.pool.name}`;
    const known = byPool.get(key);
    if (known) known.push(slice);
    else byPool.set(key, [slice]);
  }
  const pools = [...byPool.values()].flatMap((ofPool) => poolOf(ofPool, node) ?? []);
  return [...pools.filter((pool) => !isPrepared(pool)), ...pools.filter(isPrepared)];
}

function isPrepared({ devices }: Pool): boolean {
  return devices.some(({ device }) => (device.bindingConditions ?? []).length > 0);
}

function poolOf(all: readonly ReadableSlice[], node: ReadableNode): Pool | undefined {
  const newest = Math.max(...all.map(({ spec }) => spec.pool.generation));
  const slices = all.filter(({ spec }) => spec.pool.generation === newest);
  const [first] = slices;
  const forNode = slices.filter((slice) => isForNode(slice, node));
  if (!first || forNode.length === 0) return undefined;
  const devices = forNode.flatMap((slice) =>
    (slice.spec.devices ?? [])
      .filter((device) => slice.spec.perDeviceNodeSelection !== true || isSelected(device, node))
      .map((device) => ({ device, slice })),
  );
  const names = slices.flatMap(({ spec }) => (spec.devices ?? []).map(({ name }) => name));
  return {
    driver: first.spec.driver,
    name: first.spec.pool.name,
    isIncomplete: slices.length !== first.spec.pool.resourceSliceCount,
    isInvalid: new Set(names).size !== names.length,
    devices,
    slices,
  };
}

function isForNode({ spec }: ReadableSlice, node: ReadableNode): boolean {
  if (spec.perDeviceNodeSelection === true)
    return (spec.devices ?? []).some((device) => isSelected(device, node));
  return isSelected(spec, node);
}

function isSelected({ allNodes, nodeName, nodeSelector }: NodeSelection, node: ReadableNode): boolean {
  if (nodeName) return nodeName === node.metadata.name;
  if (allNodes === true) return true;
  return nodeSelector !== undefined && isSelectedByTerms(nodeSelector, node);
}
