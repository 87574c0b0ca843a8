import type { DecodedObject, Node } from '@rollkeeper/machinery/kubernetes';
import { checkLabelValue, checkQualifiedName, goQuote, sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../../kind-definition.js';
import { checkCidr, parseCidr } from '../../validation/addresses.js';
import { duplicate, forbidden, invalid, notSupported, required } from '../../validation/field-errors.js';
import { internalForm } from '../../validation/internal-form.js';
import { validateResourceAmount } from '../../validation/resource-names.js';
import { validateSyntax } from '../../validation/words.js';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

type NodeSpec = NonNullable<DecodedObject<Node>['spec']>;

/** Source: ValidateNode in pkg/apis/core/validation/validation.go. */
export function validateNode({ spec, status }: DecodedObject<Node>, errors: FieldError[]): void {
  validateTaints(spec?.taints, errors);
  validateAmounts(status ?? {}, errors);
  const networks = spec?.podCIDRs ?? [];
  networks.forEach((network, index) => {
    for (const problem of checkCidr(network))
      errors.push(invalid(`spec.podCIDRs[${index}]`, network, problem));
  });
  if (networks.length > 2)
    errors.push(invalid('spec.podCIDRs', networks, 'may specify no more than one CIDR for each IP family'));
  const families = networks.map((network) => parseCidr(network)?.family);
  if (networks.length === 2 && families[0] !== undefined && families[0] === families[1])
    errors.push(invalid('spec.podCIDRs', networks, 'may specify no more than one CIDR for each IP family'));
}

/** `MyFeature/mySubFeature` */
const FEATURE = /^[A-Z][\dA-Za-z]*(?:\/[\dA-Za-z]+)*$/;

type NodeStatus = NonNullable<DecodedObject<Node>['status']>;

/** Source: ValidateNodeResources. */
function validateAmounts(status: NodeStatus, errors: FieldError[]): void {
  for (const field of ['capacity', 'allocatable'] as const)
    for (const [name, amount] of Object.entries(status[field] ?? {}))
      validateResourceAmount(name, amount, `status.${field}.${name}`, errors);
}

/**
 * Validates the status that a kubelet writes of its node. Source: ValidateNodeUpdate, as far as it is about the status.
 */
export function validateNodeStatus({ status = {} }: DecodedObject<Node>, errors: FieldError[]): void {
  validateAmounts(status, errors);
  status.declaredFeatures?.forEach((feature, index) => {
    if (FEATURE.test(feature)) return;
    errors.push(
      invalid(
        `status.declaredFeatures[${index}]`,
        feature,
        `invalid feature name ${goQuote(feature)}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`,
      ),
    );
  });
  const seen = new Set<string>();
  status.addresses?.forEach((address, index) => {
    const identity = `${address.type} ${address.address}`;
    if (seen.has(identity))
      errors.push(duplicate(`status.addresses[${index}]`, internalForm('core.NodeAddress', address)));
    seen.add(identity);
  });
}

function validateTaints(taints: NodeSpec['taints'], errors: FieldError[]): void {
  const seen = new Set<string>();
  taints?.forEach((taint, index) => {
    // The path that the genuine server gives them.
    const path = `metadata.taints[${index}]`;
    validateSyntax(taint.key ?? '', checkQualifiedName, `${path}.key`, errors);
    validateSyntax(taint.value ?? '', checkLabelValue, `${path}.value`, errors);
    if (!taint.effect) errors.push(required(`${path}.effect`));
    else if (!EFFECTS.includes(taint.effect))
      errors.push(notSupported(`${path}.effect`, taint.effect, EFFECTS));
    const identity = `${taint.key}:${taint.effect}`;
    if (seen.has(identity)) errors.push(duplicate(path, internalForm('core.Taint', taint)));
    seen.add(identity);
  });
}

/** Validates the fields of a node that may change: whether and how pods come to it. Source: ValidateNodeUpdate. */
export function validateNodeUpdate(
  node: DecodedObject<Node>,
  old: DecodedObject<Node>,
  errors: FieldError[],
): void {
  const spec = node.spec ?? {};
  const before = old.spec ?? {};
  validateNode(node, errors);
  if (before.podCIDRs?.length && !sameMeaning(spec.podCIDRs, before.podCIDRs))
    errors.push(forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  if (before.providerID && spec.providerID !== before.providerID)
    errors.push(
      forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'),
    );
  if (spec.externalID !== before.externalID) errors.push(forbidden('spec.externalID', 'may not be updated'));
  const fixed = (one: NodeSpec): object => ({
    ...one,
    taints: undefined,
    unschedulable: undefined,
    configSource: undefined,
    // They have been spoken of.
    podCIDRs: undefined,
    podCIDR: undefined,
    providerID: undefined,
    externalID: undefined,
  });
  if (!sameMeaning(fixed(spec), fixed(before)))
    errors.push(
      forbidden(
        // The genuine server names no field, and an empty name shows like this.
        '[]',
        'node updates may only change labels, taints, or capacity (or configSource, if the DynamicKubeletConfig feature gate is enabled)',
      ),
    );
}
