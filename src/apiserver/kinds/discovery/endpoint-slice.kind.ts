import {
  FIELD_IMMUTABLE,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
} from '@rollkeeper/machinery/kubernetes';
import type { Endpoint, EndpointPort, EndpointSlice } from '@rollkeeper/machinery/types/discovery-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { checkIp, familyOf } from '../validation/addresses.js';
import { duplicate, invalid, notSupported, required, tooMany } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';
import { validateOrdinaryAddress } from '../core/service/service.validation.js';

type Slice = DecodedObject<EndpointSlice>;

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const MAX_ENDPOINTS = 1000;
const MAX_PORTS = 20_000;
const MAX_HINTS = 8;
const MAX_ADDRESSES = 100;

/** Source: ValidateEndpointSlice in pkg/apis/discovery/validation/validation.go. */
export const ENDPOINT_SLICE_KIND = defineKind<Slice>({
  type: {
    group: 'discovery.k8s.io',
    version: 'v1',
    resource: 'endpointslices',
    kind: 'EndpointSlice',
    namespaced: true,
  },
  schema: 'io.k8s.api.discovery.v1.EndpointSlice',
  // Consumers read the labels as well.
  generationOf: ({ apiVersion: _version, kind: _kind, metadata, ...rest }) => [rest, metadata.labels],
  ...printed<Slice>(
    NAME,
    shown('AddressType', ({ addressType }) => addressType ?? ''),
    shown('Ports', ({ ports }) => firstOf(ports?.map(({ port }) => String(port ?? '*')))),
    shown('Endpoints', ({ endpoints }) => firstOf(endpoints?.flatMap(({ addresses = [] }) => addresses))),
    AGE,
  ),
  applyDefaults({ ports }) {
    for (const port of ports ?? []) {
      port.name ??= '';
      port.protocol ??= 'TCP';
    }
  },
  warnings: ({ addressType }) =>
    addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [],
  prepareForCreate: dropOldTopology,
  completeUpdate: dropOldTopology,
  validate,
  validateUpdate(object, old, _subresource, errors) {
    validate(object, errors);
    if (object.addressType !== old.addressType)
      errors.push(invalid('addressType', object.addressType, FIELD_IMMUTABLE));
  },
});

/** The field is of an older version of the API, and cannot be written in this one. */
function dropOldTopology({ endpoints }: Slice): void {
  for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
}

function validate({ addressType, endpoints = [], ports = [] }: Readonly<Slice>, errors: FieldError[]): void {
  if (!addressType) errors.push(required('addressType'));
  else if (!ADDRESS_TYPES.includes(addressType))
    errors.push(notSupported('addressType', addressType, ADDRESS_TYPES));
  if (endpoints.length > MAX_ENDPOINTS) errors.push(tooMany('endpoints', endpoints.length, MAX_ENDPOINTS));
  else
    endpoints.forEach((endpoint, index) =>
      validateEndpoint(endpoint, addressType, `endpoints[${index}]`, errors),
    );
  const names = new Set<string>();
  if (ports.length > MAX_PORTS) errors.push(tooMany('ports', ports.length, MAX_PORTS));
  else ports.forEach((port, index) => validatePort(port, names, `ports[${index}]`, errors));
}

function validateEndpoint(
  { addresses = [], deprecatedTopology, hints, hostname, nodeName }: Decoded<Endpoint>,
  type: string | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (addresses.length === 0) errors.push(required(`${path}.addresses`, 'must contain at least 1 address'));
  if (addresses.length > MAX_ADDRESSES)
    errors.push(tooMany(`${path}.addresses`, addresses.length, MAX_ADDRESSES));
  addresses.forEach((address, index) => {
    const field = `${path}.addresses[${index}]`;
    if (type === 'FQDN') validateSyntax(address, checkDns1123Subdomain, field, errors);
    else if (type === 'IPv4' || type === 'IPv6') {
      const problems = checkIp(address);
      for (const problem of problems) errors.push(invalid(field, address, problem));
      if (problems.length > 0) return;
      if (familyOf(address) !== type)
        errors.push(invalid(`${path}.addresses`, address, `must be an ${type} address`));
      validateOrdinaryAddress(address, field, errors);
    }
  });
  if (nodeName !== undefined) validateSyntax(nodeName, checkDns1123Subdomain, `${path}.nodeName`, errors);
  for (const key in deprecatedTopology)
    validateSyntax(deprecatedTopology[key] ?? '', checkLabelValue, `${path}.deprecatedTopology`, errors);
  if (hostname !== undefined) validateSyntax(hostname, checkDns1123Label, `${path}.hostname`, errors);
  validateHints(hints?.forZones ?? [], checkLabelValue, `${path}.hints.forZones`, errors);
  validateHints(hints?.forNodes ?? [], checkDns1123Subdomain, `${path}.hints.forNodes`, errors);
}

function validateHints(
  hints: readonly { readonly name?: string }[],
  check: (name: string) => readonly string[],
  path: string,
  errors: FieldError[],
): void {
  if (hints.length > MAX_HINTS) {
    errors.push(tooMany(path, hints.length, MAX_HINTS));
    return;
  }
  const seen = new Set<string>();
  hints.forEach(({ name = '' }, index) => {
    const field = `${path}[${index}].name`;
    if (seen.has(name)) errors.push(duplicate(field, name));
    seen.add(name);
    validateSyntax(name, check, field, errors);
  });
}

function validatePort(
  port: Decoded<EndpointPort>,
  names: Set<string>,
  path: string,
  errors: FieldError[],
): void {
  const { name = '', protocol, appProtocol } = port;
  if (name !== '') validateSyntax(name, checkDns1123Label, `${path}.name`, errors);
  if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
  names.add(name);
  if (protocol === undefined) errors.push(required(`${path}.protocol`));
  else if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
  if (appProtocol !== undefined)
    validateSyntax(appProtocol, checkQualifiedName, `${path}.appProtocol`, errors);
}

/** The first three and how many more. */
function firstOf(texts: readonly string[] = []): string {
  if (texts.length === 0) return '<unset>';
  const text = texts.slice(0, 3).join(',');
  return texts.length > 3 ? `${text} + ${texts.length - 3} more...` : text;
}
