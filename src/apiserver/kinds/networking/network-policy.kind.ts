import { checkPortName, checkPortNumber } from '@rollkeeper/machinery/kubernetes';
import type {
  NetworkPolicy as INetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from '@rollkeeper/machinery/types/networking-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { formatSelector } from '../common/columns.js';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { checkCidr, hasHostBits, isStrictSubset, parseCidr } from '../validation/addresses.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateLabelSelector } from '../validation/labels.js';
import { validateSyntax } from '../validation/words.js';

type NetworkPolicy = DecodedObject<INetworkPolicy>;
type Spec = Decoded<NetworkPolicySpec>;

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const TYPES = ['Ingress', 'Egress'];

/** Source: ValidateNetworkPolicySpec in pkg/apis/networking/validation/validation.go. */
export const NETWORK_POLICY_KIND = defineKind<NetworkPolicy>({
  type: {
    group: 'networking.k8s.io',
    version: 'v1',
    resource: 'networkpolicies',
    kind: 'NetworkPolicy',
    namespaced: true,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.networking.v1.NetworkPolicy',
  shortNames: ['netpol'],
  generationOf: ({ spec }) => spec,
  tellsEmptyFromNone: true,
  ...printed<NetworkPolicy>(
    NAME,
    shown('Pod-Selector', ({ spec }) => formatSelector(spec?.podSelector)),
    AGE,
  ),
  applyDefaults(object) {
    const spec = (object.spec ??= {});
    spec.podSelector ??= {};
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])])
      for (const port of rule.ports ?? []) port.protocol ??= 'TCP';
    if (!spec.policyTypes?.length)
      spec.policyTypes = spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress'];
  },
  validate: ({ spec }, errors) => validateSpec(spec ?? {}, new Set(), errors),
  validateUpdate: ({ spec }, old, _subresource, errors) =>
    validateSpec(spec ?? {}, networksOf(old.spec ?? {}), errors),
});

/** A network that an older release accepted can stay. Source: ValidationOptionsForNetworking. */
function networksOf({ egress = [], ingress = [] }: Spec): ReadonlySet<string> {
  const peers = [...egress.flatMap(({ to }) => to ?? []), ...ingress.flatMap(({ from }) => from ?? [])];
  return new Set(peers.flatMap(({ ipBlock }) => [ipBlock?.cidr ?? [], ipBlock?.except ?? []].flat()));
}

function validateSpec(spec: Spec, known: ReadonlySet<string>, errors: FieldError[]): void {
  if (spec.podSelector) validateLabelSelector(spec.podSelector, 'spec.podSelector', errors);
  spec.ingress?.forEach(({ ports, from }, index) => {
    const path = `spec.ingress[${index}]`;
    ports?.forEach((port, at) => validatePort(port, `${path}.ports[${at}]`, errors));
    from?.forEach((peer, at) => validatePeer(peer, known, `${path}.from[${at}]`, errors));
  });
  spec.egress?.forEach(({ ports, to }, index) => {
    const path = `spec.egress[${index}]`;
    ports?.forEach((port, at) => validatePort(port, `${path}.ports[${at}]`, errors));
    to?.forEach((peer, at) => validatePeer(peer, known, `${path}.to[${at}]`, errors));
  });
  const types = spec.policyTypes ?? [];
  if (types.length > TYPES.length)
    errors.push(invalid('spec.policyTypes', types, 'may not specify more than two policyTypes'));
  else
    types.forEach((type, index) => {
      if (!TYPES.includes(type)) errors.push(notSupported(`spec.policyTypes[${index}]`, type, TYPES));
    });
}

function validatePort(
  { protocol, port, endPort }: Decoded<NetworkPolicyPort>,
  path: string,
  errors: FieldError[],
): void {
  if (protocol !== undefined && !PROTOCOLS.includes(protocol))
    errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
  if (port === undefined) {
    if (endPort !== undefined)
      errors.push(invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is not specified'));
    return;
  }
  if (typeof port === 'string') {
    if (endPort !== undefined)
      errors.push(invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is non-numeric'));
    validateSyntax(port, checkPortName, `${path}.port`, errors);
    return;
  }
  validateSyntax(port, checkPortNumber, `${path}.port`, errors);
  if (endPort === undefined) return;
  if (endPort < port)
    errors.push(invalid(`${path}.endPort`, port, 'must be greater than or equal to `port`'));
  validateSyntax(endPort, checkPortNumber, `${path}.endPort`, errors);
}

function validatePeer(
  { podSelector, namespaceSelector, ipBlock }: Decoded<NetworkPolicyPeer>,
  known: ReadonlySet<string>,
  path: string,
  errors: FieldError[],
): void {
  if (podSelector) validateLabelSelector(podSelector, `${path}.podSelector`, errors);
  if (namespaceSelector) validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`, errors);
  if (ipBlock) validateBlock(ipBlock, known, `${path}.ipBlock`, errors);
  const isSelector = podSelector !== undefined || namespaceSelector !== undefined;
  if (!isSelector && !ipBlock) errors.push(required(path, 'must specify a peer'));
  if (isSelector && ipBlock) errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
}

function validateBlock(
  { cidr, except }: NonNullable<Decoded<NetworkPolicyPeer>['ipBlock']>,
  known: ReadonlySet<string>,
  path: string,
  errors: FieldError[],
): void {
  if (!cidr) {
    errors.push(required(`${path}.cidr`));
    return;
  }
  const outer = parseCidr(cidr);
  if (!outer) {
    validateSyntax(cidr, checkCidr, `${path}.cidr`, errors);
    return;
  }
  const validateBits = (network: string, field: string): void => {
    if (!known.has(network) && hasHostBits(network))
      errors.push(invalid(field, network, 'must not have bits set beyond the prefix length'));
  };
  validateBits(cidr, `${path}.cidr`);
  except?.forEach((part, index) => {
    const field = `${path}.except[${index}]`;
    const inner = parseCidr(part);
    if (!inner) validateSyntax(part, checkCidr, field, errors);
    else validateBits(part, field);
    if (inner && !isStrictSubset(outer, inner))
      errors.push(invalid(field, part, 'must be a strict subset of `cidr`'));
  });
}
