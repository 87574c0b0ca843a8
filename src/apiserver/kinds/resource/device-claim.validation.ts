import type {
  DeviceClaim,
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  DeviceToleration,
  OpaqueDeviceConfiguration,
} from '@rollkeeper/machinery/types/resource-v1';
import {
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
  stringifyJson,
} from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported, required, tooLong } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';
import { validateCsiDriverName } from '../volumes/machine-sources.js';
import { validateSelectors } from './device-selectors.js';
import { validateItems, validateLabelName, validateSetOf } from './lists.js';

const MAX_REQUESTS = 32;
const MAX_CONSTRAINTS = 32;
export const MAX_CONFIGS = 32;
const MAX_ALTERNATIVES = 8;
const MAX_TOLERATIONS = 16;
const MAX_PARAMETERS_LENGTH = 10 * 1024;
const MODES = ['All', 'ExactCount'];
const NO_SUCH_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** Names by which requests of a claim can be meant: of each, and of its alternatives behind a slash. */
export type RequestNames = ReadonlySet<string>;

/** Source: validateDeviceClaim in pkg/apis/resource/validation/validation.go. */
export function validateDeviceClaim(claim: Decoded<DeviceClaim>, path: string, errors: FieldError[]): void {
  const names = requestNamesOf(claim);
  validateSetOf(claim.requests, MAX_REQUESTS, `${path}.requests`, errors, {
    check: validateRequest,
    keyOf: ({ name = '' }) => name,
  });
  validateItems(claim.constraints, MAX_CONSTRAINTS, `${path}.constraints`, errors, (constraint, at) =>
    validateConstraint(constraint, names, at, errors),
  );
  validateItems(claim.config, MAX_CONFIGS, `${path}.config`, errors, (config, at) =>
    validateConfig(config, names, at, errors),
  );
}

/** @param claim as it is stored, too: an empty list is null there */
export function requestNamesOf({ requests }: Decoded<DeviceClaim>): RequestNames {
  return new Set(
    (requests ?? []).flatMap(({ name = '', firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((one) => `${name}/${one.name ?? ''}`),
    ]),
  );
}

function validateRequest(request: Decoded<DeviceRequest>, path: string, errors: FieldError[]): void {
  validateLabelName(request.name, `${path}.name`, errors);
  const { exactly, firstAvailable = [] } = request;
  const one = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly && firstAvailable.length > 0) {
    errors.push(invalid(path, null, `${one}, but multiple fields are set`));
    return;
  }
  if (!exactly && firstAvailable.length === 0) {
    errors.push(required(path, one));
    return;
  }
  if (exactly) validateDevices(exactly, `${path}.exactly`, errors);
  validateSetOf(firstAvailable, MAX_ALTERNATIVES, `${path}.firstAvailable`, errors, {
    check(alternative, at) {
      validateLabelName(alternative.name, `${at}.name`, errors);
      validateDevices(alternative, at, errors);
    },
    keyOf: ({ name = '' }) => name,
  });
}

/** Validates the fields that a request and an alternative of one have in common. */
function validateDevices(
  {
    deviceClassName,
    selectors,
    allocationMode,
    count = 0,
    tolerations,
  }: Omit<Decoded<DeviceSubRequest>, 'name'>,
  path: string,
  errors: FieldError[],
): void {
  if (!deviceClassName) errors.push(required(`${path}.deviceClassName`));
  else validateSyntax(deviceClassName, checkDns1123Subdomain, `${path}.deviceClassName`, errors);
  validateSelectors(selectors, `${path}.selectors`, errors);
  if (allocationMode === 'All') {
    if (count !== 0)
      errors.push(invalid(`${path}.count`, count, "must not be specified when allocationMode is 'All'"));
  } else if (allocationMode === 'ExactCount') {
    if (count <= 0) errors.push(invalid(`${path}.count`, count, 'must be greater than zero'));
  } else errors.push(notSupported(`${path}.allocationMode`, allocationMode ?? '', MODES));
  validateTolerations(tolerations, `${path}.tolerations`, errors);
}

const OPERATORS = ['Equal', 'Exists'];
const EFFECTS = ['NoExecute', 'NoSchedule', 'None'];

/** Source: validateDeviceToleration. */
export function validateTolerations(
  tolerations: Decoded<DeviceToleration>[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  validateItems(tolerations, MAX_TOLERATIONS, path, errors, ({ key, operator, value, effect }, at) => {
    if (key) validateSyntax(key, checkQualifiedName, `${at}.key`, errors);
    if (operator === 'Exists') {
      if (value) errors.push(invalid(`${at}.value`, value, 'must be empty for operator `Exists`'));
    } else if (operator === 'Equal') validateSyntax(value ?? '', checkLabelValue, `${at}.value`, errors);
    else if (!operator) errors.push(required(`${at}.operator`));
    else errors.push(notSupported(`${at}.operator`, operator, OPERATORS));
    if (effect && !EFFECTS.includes(effect)) errors.push(notSupported(`${at}.effect`, effect, EFFECTS));
  });
}

function validateConstraint(
  { requests, matchAttribute, distinctAttribute }: Decoded<DeviceConstraint>,
  names: RequestNames,
  path: string,
  errors: FieldError[],
): void {
  validateRequestRefs(requests, names, `${path}.requests`, errors);
  if (matchAttribute !== undefined) validateAttributeName(matchAttribute, `${path}.matchAttribute`, errors);
  else if (distinctAttribute !== undefined)
    validateAttributeName(distinctAttribute, `${path}.distinctAttribute`, errors);
  else
    errors.push(
      required(
        path,
        'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
      ),
    );
}

/** With its domain: an attribute that several drivers are asked for has no other meaning. */
function validateAttributeName(name: string, path: string, errors: FieldError[]): void {
  validateQualifiedDeviceName(name, path, errors);
  if (name !== '' && !name.includes('/')) errors.push(invalid(path, name, 'must include a domain'));
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_DOMAIN_LENGTH = 63;
const MAX_ID_LENGTH = 32;

/** `domain/identifier`, or the identifier alone. Source: validateQualifiedName. */
export function validateQualifiedDeviceName(name: string, path: string, errors: FieldError[]): void {
  if (name === '') {
    errors.push(required(path, 'name required'));
    return;
  }
  const parts = name.split('/');
  const [id = '', domain] = parts.length === 1 ? [parts[0]] : [parts[1], parts[0]];
  if (parts.length > 2) {
    errors.push(invalid(path, name, 'must not contain more than one slash'));
    return;
  }
  if (domain !== undefined) {
    if (domain === '') errors.push(required(path, 'the domain must not be empty'));
    else if (domain.length > MAX_DOMAIN_LENGTH) errors.push(tooLong(path, MAX_DOMAIN_LENGTH));
    else validateSyntax(domain, checkDns1123Subdomain, path, errors);
    if (id === '') errors.push(required(path, 'the name must not be empty'));
  }
  if (id === '') return;
  if (id.length > MAX_ID_LENGTH) errors.push(tooLong(path, MAX_ID_LENGTH));
  if (!IDENTIFIER.test(id))
    errors.push(
      invalid(
        path,
        id,
        "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
      ),
    );
}

function validateConfig(
  { requests, opaque }: Decoded<DeviceClaimConfiguration>,
  names: RequestNames,
  path: string,
  errors: FieldError[],
): void {
  validateRequestRefs(requests, names, `${path}.requests`, errors);
  validateConfiguration(opaque, path, errors);
}

/** Source: validateDeviceConfiguration. */
export function validateConfiguration(
  opaque: Decoded<OpaqueDeviceConfiguration> | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (!opaque) {
    errors.push(required(`${path}.opaque`));
    return;
  }
  validateCsiDriverName(opaque.driver, `${path}.opaque.driver`, errors);
  validateRaw(opaque.parameters, `${path}.opaque.parameters`, errors);
}

/** An object for a driver alone. Source: validateRawExtension. */
export function validateRaw(value: unknown, path: string, errors: FieldError[]): void {
  if (value === undefined || value === null) errors.push(required(path));
  else if (typeof value !== 'object' || Array.isArray(value))
    errors.push(invalid(path, '<value omitted>', 'must be a valid JSON object'));
  else if (stringifyJson(value).length > MAX_PARAMETERS_LENGTH)
    errors.push(tooLong(path, MAX_PARAMETERS_LENGTH));
}

/** Names of requests that something is for. */
export function validateRequestRefs(
  requests: string[] | undefined,
  names: RequestNames,
  path: string,
  errors: FieldError[],
): void {
  validateSetOf(requests, MAX_REQUESTS, path, errors, {
    check: (name, at) => validateRequestRef(name, names, at, errors),
    keyOf: (name) => name,
  });
}

export function validateRequestRef(
  name: string,
  names: RequestNames,
  path: string,
  errors: FieldError[],
): void {
  const segments = name.split('/');
  if (segments.length <= 2) for (const segment of segments) validateLabelName(segment, path, errors);
  if (segments.length > 2 || !names.has(name)) errors.push(invalid(path, name, NO_SUCH_REQUEST));
}
