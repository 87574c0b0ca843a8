import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { DeviceClass, DeviceRequest, ReadableClaim, WantedDevices } from './resource-api.js';
import type { DeviceMatcher } from './device-matcher.js';
import type { Pool, PooledCandidate } from './gather-pools.js';

/** How many devices one claim may get. */
export const MOST_DEVICES = 32;

/** One way to satisfy a request: the request itself, or one of its alternatives. */
export interface Alternative {
  /** As the allocation calls it: `request`, or `request/alternative`. */
  readonly name: string;
  /** Names by which constraints may mean it. */
  readonly names: readonly string[];
  readonly wanted: WantedDevices;
  readonly deviceClass: DeepReadonly<DeviceClass>;
  readonly count: number;
  /** The devices, if all are wanted. */
  readonly all?: readonly PooledCandidate[];
}

export interface CompiledRequest {
  readonly request: DeviceRequest;
  /** The first that can be satisfied is taken. */
  readonly alternatives: readonly Alternative[];
}

interface RequestContext {
  readonly claim: ReadableClaim;
  readonly pools: readonly Pool[];
  readonly view: ClusterView;
  readonly matcher: DeviceMatcher;
}

/** @throws Error for what cannot be allocated on any node */
export function compileRequests(context: RequestContext): CompiledRequest[] {
  const requests = context.claim.spec.devices?.requests ?? [];
  return requests.map((request) => {
    const { exactly, firstAvailable = [], name } = request;
    const alternatives =
      firstAvailable.length > 0
        ? firstAvailable.map((each) => compileAlternative(context, each, [`${name}/${each.name}`, name]))
        : exactly
          ? [compileAlternative(context, exactly, [name])]
          : [];
    return { request, alternatives };
  });
}

function compileAlternative(
  context: RequestContext,
  wanted: WantedDevices,
  names: readonly string[],
): Alternative {
  const { claim, view } = context;
  const [name = ''] = names;
  const where = `claim ${keyOf(claim.metadata)}, request ${name}`;
  const { allocationMode = 'ExactCount', count = 1, deviceClassName = '' } = wanted;
  const deviceClass = view.get<DeviceClass>('resource.k8s.io/deviceclasses', { name: deviceClassName });
  if (!deviceClass) throw new Error(`${where}: could not retrieve device class ${deviceClassName}`);
  const common = { name, names, wanted, deviceClass };
  if (allocationMode === 'ExactCount') return { ...common, count };
  if (allocationMode !== 'All') throw new Error(`${where}: unsupported count mode ${allocationMode}`);
  const all = allDevices(context, common, where);
  return { ...common, count: all.length, all };
}

/** Every device that the request selects, in use or not. */
function allDevices(
  { claim, matcher, pools }: RequestContext,
  alternative: Pick<Alternative, 'deviceClass' | 'wanted'>,
  where: string,
): PooledCandidate[] {
  return pools.flatMap((pool) => {
    const problem = pool.isIncomplete ? 'being updated' : pool.isInvalid ? 'invalid' : undefined;
    if (problem)
      throw new Error(
        `${where}: asks for all devices, but resource pool ${pool.driver}/${pool.name} is currently ${problem}`,
      );
    return pool.devices
      .map((pooled) => ({ ...pooled, pool }))
      .filter((candidate) => matcher.matches(candidate, alternative, claim));
  });
}
