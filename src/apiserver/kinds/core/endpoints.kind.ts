import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPortNumber,
  checkQualifiedName,
} from '@rollkeeper/machinery/kubernetes';
import type {
  EndpointAddress,
  EndpointPort,
  Endpoints as IEndpoints,
} from '@rollkeeper/machinery/types/core-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { checkIp } from '../validation/addresses.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateSyntax, validateWords } from '../validation/words.js';
import { validateOrdinaryAddress } from './service/service.validation.js';

type Endpoints = DecodedObject<IEndpoints>;

const MAX_SHOWN = 3;

/** Source: ValidateEndpoints in pkg/apis/core/validation/validation.go. */
export const ENDPOINTS_KIND = defineKind<Endpoints>({
  type: { group: '', version: 'v1', resource: 'endpoints', kind: 'Endpoints', namespaced: true },
  schema: 'io.k8s.api.core.v1.Endpoints',
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  shortNames: ['ep'],
  createsOnUpdate: true,
  ...printed<Endpoints>(NAME, shown('Endpoints', endpointsText), AGE),
  applyDefaults({ subsets }) {
    for (const { ports } of subsets ?? []) for (const port of ports ?? []) port.protocol ??= 'TCP';
  },
  validate({ subsets }, errors) {
    subsets?.forEach(({ addresses = [], notReadyAddresses = [], ports = [] }, index) => {
      const path = `subsets[${index}]`;
      if (addresses.length + notReadyAddresses.length === 0)
        errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
      for (const [field, list] of Object.entries({ addresses, notReadyAddresses }))
        list.forEach((address, at) => validateAddress(address, `${path}.${field}[${at}]`, errors));
      ports.forEach((port, at) => validatePort(port, ports.length > 1, `${path}.ports[${at}]`, errors));
    });
  },
});

function validateAddress(
  { ip = '', hostname, nodeName }: Decoded<EndpointAddress>,
  path: string,
  errors: FieldError[],
): void {
  const problems = checkIp(ip);
  for (const problem of problems) errors.push(invalid(`${path}.ip`, ip, problem));
  if (hostname) validateSyntax(hostname, checkDns1123Label, `${path}.hostname`, errors);
  if (nodeName !== undefined) validateSyntax(nodeName, checkDns1123Subdomain, `${path}.nodeName`, errors);
  validateOrdinaryAddress(ip, `${path}.ip`, errors);
}

function validatePort(
  port: Decoded<EndpointPort>,
  needsName: boolean,
  path: string,
  errors: FieldError[],
): void {
  if (needsName && !port.name) errors.push(required(`${path}.name`));
  else if (port.name) validateSyntax(port.name, checkDns1123Label, `${path}.name`, errors);
  validateSyntax(port.port ?? 0, checkPortNumber, `${path}.port`, errors);
  validateWords(port, [{ field: 'protocol', words: ['SCTP', 'TCP', 'UDP'], isRequired: true }], path, errors);
  if (port.appProtocol !== undefined)
    validateSyntax(port.appProtocol, checkQualifiedName, `${path}.appProtocol`, errors);
}

/** The first three and how many more. Source: formatEndpoints in pkg/printers/internalversion/printers.go. */
function endpointsText({ subsets }: Readonly<Endpoints>): string {
  const all = (subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip }) => ip)
      : ports.flatMap(({ port }) =>
          addresses.map(({ ip }) => (ip?.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
        ),
  );
  if (all.length === 0) return '<none>';
  const shownPart = all.slice(0, MAX_SHOWN).join(',');
  return all.length > MAX_SHOWN ? `${shownPart} + ${all.length - MAX_SHOWN} more...` : shownPart;
}
