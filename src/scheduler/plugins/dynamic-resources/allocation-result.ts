import type { ClaimAllocation, PickedDevice } from './allocate-claims.js';
import type { AllocatedDevice, Allocation, DeviceConfig, NodeSelector } from './resource-api.js';
import { consumedQuantities } from './shared-capacity.js';

type Config = DeviceConfig & { readonly source: 'FromClass' | 'FromClaim' };

/** `status.allocation` of the claim. @param newShareId for each device that is shared */
export function allocationOf(found: ClaimAllocation, newShareId: () => string): Allocation {
  const config = configOf(found);
  const nodeSelector = nodeSelectorOf(found);
  return {
    devices: {
      results: found.devices.map((picked) => resultOf(picked, newShareId)),
      ...(config.length > 0 && { config }),
    },
    ...(nodeSelector && { nodeSelector }),
  };
}

function resultOf(
  { alternative, consumed, device, pool }: PickedDevice,
  newShareId: () => string,
): AllocatedDevice {
  const { adminAccess, tolerations } = alternative.wanted;
  const { bindingConditions, bindingFailureConditions } = device;
  return {
    request: alternative.name,
    driver: pool.driver,
    pool: pool.name,
    device: device.name,
    ...(adminAccess && { adminAccess }),
    ...(tolerations && { tolerations }),
    ...(bindingConditions && { bindingConditions }),
    ...(bindingFailureConditions && { bindingFailureConditions }),
    ...(consumed && {
      shareID: newShareId(),
      ...(consumed.size > 0 && { consumedCapacity: consumedQuantities(consumed, device) }),
    }),
  };
}

/**
 * The configuration of the classes comes first, each once; then the claim's own, as far as it concerns what was taken.
 * None named means all requests.
 */
function configOf({ claim, requests, taken }: ClaimAllocation): Config[] {
  const chosen = requests.map(({ alternatives }, index) => alternatives[taken[index] ?? 0]);
  const byClass = new Map<string, { names: string[]; config: readonly DeviceConfig[] }>();
  for (const alternative of chosen) {
    if (!alternative) continue;
    const { deviceClass, name } = alternative;
    const known = byClass.get(deviceClass.metadata.name);
    if (known) known.names.push(name);
    else byClass.set(deviceClass.metadata.name, { names: [name], config: deviceClass.spec.config ?? [] });
  }
  const ofClasses = [...byClass.values()].flatMap(({ config, names }) =>
    config.map((each): Config => ({ ...each, source: 'FromClass', requests: names })),
  );
  const names = new Set(chosen.flatMap((alternative) => alternative?.names ?? []));
  const ofClaim = (claim.spec.devices?.config ?? [])
    .filter((each) => (each.requests ?? []).length === 0 || each.requests?.some((name) => names.has(name)))
    .map((each): Config => ({ ...each, source: 'FromClaim' }));
  return [...ofClasses, ...ofClaim].map(({ requests: concerned, ...rest }) =>
    concerned === undefined || concerned.length === requests.length ? rest : { ...rest, requests: concerned },
  );
}

/**
 * The nodes on which the devices can be used: the one node that has one of them, or those where all their selectors
 * agree.
 */
function nodeSelectorOf({ devices, node }: ClaimAllocation): NodeSelector | undefined {
  const matchFields: NonNullable<NodeSelector['nodeSelectorTerms'][number]['matchFields']>[number][] = [];
  const matchExpressions: typeof matchFields = [];
  for (const { device, slice } of devices) {
    const selection = slice.spec.perDeviceNodeSelection === true ? device : slice.spec;
    const { nodeSelector } = selection;
    const nodeName = device.bindsToNode === true ? node : selection.nodeName;
    if (nodeName)
      return {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }],
      };
    const [term] = nodeSelector?.nodeSelectorTerms ?? [];
    matchFields.push(...(term?.matchFields ?? []));
    matchExpressions.push(...(term?.matchExpressions ?? []));
  }
  if (matchFields.length + matchExpressions.length === 0) return undefined;
  return {
    nodeSelectorTerms: [
      {
        ...(matchFields.length > 0 && { matchFields }),
        ...(matchExpressions.length > 0 && { matchExpressions }),
      },
    ],
  };
}
