import type {
  CounterSet,
  Device,
  DeviceAttribute,
  DeviceTaint,
  ResourceSliceSpec,
} from '@rollkeeper/machinery/types/resource-v1';
import { checkDns1123Subdomain, checkLabelValue, checkQualifiedName } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid, notSupported, required, tooLong, tooMany } from '../validation/field-errors.js';
import { validateNodeSelector } from '../validation/node-selectors.js';
import { validateSyntax } from '../validation/words.js';
import { validateBinding } from './binding-conditions.validation.js';
import { validateCapacity } from './capacity.validation.js';
import { validateQualifiedDeviceName } from './device-claim.validation.js';
import { validateCounterName, validateItems, validateLabelName, validateSetOf } from './lists.js';

const MAX_DEVICES = 128;
/** The largest number of devices with taints, counters or lists of values. */
const MAX_RICH_DEVICES = 64;
const MAX_COUNTER_SETS = 8;
const MAX_FIELDS = 32;
const MAX_VALUE_LENGTH = 64;
const MAX_TAINTS = 16;
const MAX_CONSUMPTIONS = 2;
const MAX_COUNTERS = 32;

/** Source: validateResourceSliceSpec in pkg/apis/resource/validation/validation.go. */
export function validateDevices(spec: Decoded<ResourceSliceSpec>, errors: FieldError[]): void {
  const { devices, sharedCounters, perDeviceNodeSelection = false } = spec;
  if (sharedCounters && devices)
    errors.push(invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed'));
  const most = devices?.some(isRich) ? MAX_RICH_DEVICES : MAX_DEVICES;
  validateSetOf(devices, most, 'spec.devices', errors, {
    check: (device, at) => validateDevice(device, perDeviceNodeSelection, at, errors),
    keyOf: ({ name = '' }) => name,
  });
  validateSetOf(sharedCounters, MAX_COUNTER_SETS, 'spec.sharedCounters', errors, {
    check: (set, at) => validateCounterSet(set, at, errors),
    keyOf: ({ name = '' }) => name,
  });
}

function isRich({ attributes = {}, consumesCounters, taints }: Decoded<Device>): boolean {
  return (
    (taints?.length ?? 0) > 0 ||
    (consumesCounters?.length ?? 0) > 0 ||
    Object.values(attributes).some((one) => one.bools ?? one.ints ?? one.strings ?? one.versions)
  );
}

function validateDevice(
  device: Decoded<Device>,
  isPlacedByDevice: boolean,
  path: string,
  errors: FieldError[],
): void {
  const { attributes = {}, capacity = {} } = device;
  validateLabelName(device.name, `${path}.name`, errors);
  const fields = Object.keys(attributes).length + Object.keys(capacity).length;
  if (fields > MAX_FIELDS)
    errors.push(
      invalid(path, fields, `the total number of attributes and capacities must not exceed ${MAX_FIELDS}`),
    );
  for (const [name, attribute] of Object.entries(attributes)) {
    const at = `${path}.attributes[${name}]`;
    validateQualifiedDeviceName(name, at, errors);
    validateAttribute(attribute, at, errors);
  }
  for (const [name, amount] of Object.entries(capacity)) {
    const at = `${path}.capacity[${name}]`;
    validateQualifiedDeviceName(name, at, errors);
    validateCapacity(amount, device.allowMultipleAllocations ?? false, at, errors);
  }
  validateItems(device.taints, MAX_TAINTS, `${path}.taints`, errors, (taint, at) =>
    validateTaint(taint, at, errors),
  );
  validateSetOf(device.consumesCounters, MAX_CONSUMPTIONS, `${path}.consumesCounters`, errors, {
    check({ counterSet, counters }, at) {
      validateCounterName(counterSet, `${at}.counterSet`, errors);
      validateCounters(counters, `${at}.counters`, errors);
    },
    keyOf: ({ counterSet = '' }) => counterSet,
  });
  if (isPlacedByDevice) validatePlacement(device, path, errors);
  else if (device.nodeName ?? device.nodeSelector ?? device.allNodes)
    errors.push(
      invalid(
        path,
        null,
        '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
      ),
    );
  validateBinding(device, path, errors);
}

function validatePlacement(
  { nodeName, nodeSelector, allNodes }: Decoded<Device>,
  path: string,
  errors: FieldError[],
): void {
  const problem =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
  const found = validateNodes({ nodeName, nodeSelector, allNodes }, path, errors, 'must not be empty');
  if (found.length === 0) errors.push(required(path, problem));
  if (found.length > 1) errors.push(invalid(path, `{${found.join(', ')}}`, problem));
}

/** The fields that say which nodes are meant, of those that are set. */
export function validateNodes(
  { nodeName, nodeSelector, allNodes }: Pick<Decoded<Device>, 'nodeName' | 'nodeSelector' | 'allNodes'>,
  path: string,
  errors: FieldError[],
  ofEmptyName: string,
): string[] {
  if (nodeName === '') errors.push(invalid(`${path}.nodeName`, nodeName, ofEmptyName));
  else if (nodeName !== undefined)
    validateSyntax(nodeName, checkDns1123Subdomain, `${path}.nodeName`, errors);
  if (nodeSelector) validateNodeSelector(nodeSelector, `${path}.nodeSelector`, errors);
  if (allNodes === false)
    errors.push(invalid(`${path}.allNodes`, allNodes, 'must be either unset or set to true'));
  return [
    ...(nodeName ? ['`nodeName`'] : []),
    ...(nodeSelector ? ['`nodeSelector`'] : []),
    ...(allNodes ? ['`allNodes`'] : []),
  ];
}

const SEMANTIC_VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;

function validateAttribute(attribute: Decoded<DeviceAttribute>, path: string, errors: FieldError[]): void {
  const texts = [
    ...(attribute.string === undefined ? [] : [[`${path}.string`, attribute.string] as const]),
    ...(attribute.strings ?? []).map((text, index) => [`${path}.strings[${index}]`, text] as const),
  ];
  const versions = [
    ...(attribute.version === undefined ? [] : [[`${path}.version`, attribute.version] as const]),
    ...(attribute.versions ?? []).map((text, index) => [`${path}.versions[${index}]`, text] as const),
  ];
  for (const [at, version] of versions) {
    if (version.length <= MAX_VALUE_LENGTH && !SEMANTIC_VERSION.test(version))
      errors.push(invalid(at, version, 'must be a string compatible with semver.org spec 2.0.0'));
  }
  for (const [at, text] of [...texts, ...versions])
    if (text.length > MAX_VALUE_LENGTH) errors.push(tooLong(at, MAX_VALUE_LENGTH));
  for (const field of ['bools', 'ints', 'strings', 'versions'] as const)
    if (attribute[field]?.length === 0)
      errors.push(invalid(`${path}.${field}`, attribute[field], 'must not be empty if specified'));
  const values: readonly unknown[] = Object.values(attribute).filter((value: unknown) => value !== undefined);
  if (values.length !== 1)
    errors.push(invalid(path, values.length === 0 ? '' : attribute, 'exactly one value must be specified'));
}

const EFFECTS = ['NoExecute', 'NoSchedule', 'None'];

function validateTaint(
  { key, value, effect }: Decoded<DeviceTaint>,
  path: string,
  errors: FieldError[],
): void {
  validateSyntax(key ?? '', checkQualifiedName, `${path}.key`, errors);
  if (value) validateSyntax(value, checkLabelValue, `${path}.value`, errors);
  if (!effect) errors.push(required(`${path}.effect`));
  else if (!EFFECTS.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, EFFECTS));
}

function validateCounterSet(
  { name, counters }: Decoded<CounterSet>,
  path: string,
  errors: FieldError[],
): void {
  validateCounterName(name, `${path}.name`, errors);
  validateCounters(counters, `${path}.counters`, errors);
}

function validateCounters(counters: object | undefined, path: string, errors: FieldError[]): void {
  const names = Object.keys(counters ?? {});
  if (names.length === 0) errors.push(required(path));
  if (names.length > MAX_COUNTERS) errors.push(tooMany(path, names.length, MAX_COUNTERS));
  else for (const name of names) validateLabelName(name, `${path}[${name}]`, errors);
}
