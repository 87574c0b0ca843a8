import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceRequestAllocationResult,
  ResourceClaim,
  NetworkDeviceData,
} from '@rollkeeper/machinery/types/resource-v1';
import {
  FIELD_IMMUTABLE,
  checkDns1123Subdomain,
  canonicalJson,
  sameMeaning,
} from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { validateMetaConditions } from '../validation/conditions.js';
import { forbidden, invalid, notSupported, required, tooLong, tooMany } from '../validation/field-errors.js';
import { validateNodeSelector } from '../validation/node-selectors.js';
import { validateSyntax } from '../validation/words.js';
import { validateCsiDriverName } from '../volumes/machine-sources.js';
import {
  MAX_CONFIGS,
  requestNamesOf,
  validateConfiguration,
  validateRaw,
  validateRequestRef,
  validateRequestRefs,
  validateTolerations,
} from './device-claim.validation.js';
import type { RequestNames } from './device-claim.validation.js';
import { validateBinding } from './binding-conditions.validation.js';
import { validateItems, validateLabelName, validateSetOf } from './lists.js';
import { addressNumber, addressText, parseCidr } from '../validation/addresses.js';

const MAX_INTERFACE = 256;
const MAX_HARDWARE = 128;
const MAX_IPS = 16;

/** Source: validateNetworkDeviceData. */
function validateNetworkData(
  data: Decoded<NetworkDeviceData> | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (!data) return;
  const { hardwareAddress = '', interfaceName = '', ips } = data;
  if (Buffer.byteLength(interfaceName) > MAX_INTERFACE)
    errors.push(tooLong(`${path}.interfaceName`, MAX_INTERFACE));
  if (Buffer.byteLength(hardwareAddress) > MAX_HARDWARE)
    errors.push(tooLong(`${path}.hardwareAddress`, MAX_HARDWARE));
  validateSetOf(ips, MAX_IPS, `${path}.ips`, errors, {
    check: (address, at) => validateInterfaceAddress(address, at, errors),
    keyOf: (address) => address,
  });
}

/** Source: IsValidInterfaceAddress in apimachinery/pkg/util/validation. */
function validateInterfaceAddress(text: string, path: string, errors: FieldError[]): void {
  const cidr = parseCidr(text);
  if (!cidr) {
    const form = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)';
    errors.push(invalid(path, text, form));
    return;
  }
  const [address = ''] = text.split('/');
  const canonical = `${addressText(addressNumber(address), cidr.family)}/${cidr.bits}`;
  if (text !== canonical)
    errors.push(invalid(path, text, `must be in canonical form (${JSON.stringify(canonical)})`));
}

type Claim = DecodedObject<ResourceClaim>;

const MAX_CONSUMERS = 256;
const MAX_RESULTS = 32;
const MAX_POOL_LENGTH = 253;
const SOURCES = ['FromClaim', 'FromClass'];

/** Source: validateResourceClaimStatusUpdate in pkg/apis/resource/validation/validation.go. */
export function validateClaimStatus(
  { metadata, spec, status = {} }: Readonly<Claim>,
  { status: old = {} }: Readonly<Claim>,
  errors: FieldError[],
): void {
  const { allocation, devices, reservedFor = [] } = status;
  const names = requestNamesOf(spec?.devices ?? {});
  validateSetOf(reservedFor, MAX_CONSUMERS, 'status.reservedFor', errors, {
    check(consumer, at) {
      for (const field of ['resource', 'name', 'uid'] as const)
        if (!consumer[field]) errors.push(required(`${at}.${field}`));
    },
    keyOf: ({ uid = '' }) => uid,
  });
  const allocated = new Set(allocation?.devices?.results?.map(deviceKey));
  validateSetOf(devices, Infinity, 'status.devices', errors, {
    check: (device, at) => validateDeviceStatus(device, allocated, at, errors),
    keyOf: deviceKey,
  });
  if (reservedFor.length > 0) {
    if (!allocation)
      errors.push(forbidden('status.reservedFor', 'may not be specified when `allocated` is not set'));
    else if (metadata.deletionTimestamp !== undefined && hasMore(reservedFor, old.reservedFor ?? []))
      errors.push(
        forbidden(
          'status.reservedFor',
          'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
        ),
      );
  }
  if (!allocation) return;
  if (old.allocation) {
    if (!sameMeaning(allocation, old.allocation))
      errors.push(invalid('status.allocation', allocation, FIELD_IMMUTABLE));
  } else validateAllocation(allocation, names, 'status.allocation', errors);
}

/**
 * Drops the status of devices that are no longer allocated. Source: dropDeallocatedStatusDevices in
 * resourceclaim/strategy.go.
 */
export function dropReleasedDevices({ status }: Claim, { status: old }: Readonly<Claim>): void {
  if (!status?.devices) return;
  const kept = new Set((status.allocation?.devices?.results ?? []).map(deviceKey));
  const released = new Set(
    (old?.allocation?.devices?.results ?? []).map(deviceKey).filter((key) => !kept.has(key)),
  );
  status.devices = status.devices.filter((device) => !released.has(deviceKey(device)));
  if (status.devices.length === 0) delete status.devices;
}

function deviceKey({
  driver,
  pool,
  device,
  shareID,
}: Pick<Decoded<AllocatedDeviceStatus>, 'driver' | 'pool' | 'device' | 'shareID'>): string {
  return [driver, pool, device, shareID].filter((part) => part !== undefined).join('/');
}

function validateAllocation(
  { devices = {}, nodeSelector }: Decoded<AllocationResult>,
  names: RequestNames,
  path: string,
  errors: FieldError[],
): void {
  validateItems(devices.results, MAX_RESULTS, `${path}.devices.results`, errors, (result, at) =>
    validateResult(result, names, at, errors),
  );
  validateItems(devices.config, 2 * MAX_CONFIGS, `${path}.devices.config`, errors, (config, at) => {
    if (!config.source) errors.push(required(`${at}.source`));
    else if (!SOURCES.includes(config.source))
      errors.push(notSupported(`${at}.source`, config.source, SOURCES));
    validateRequestRefs(config.requests, names, `${at}.requests`, errors);
    validateConfiguration(config.opaque, at, errors);
  });
  if (nodeSelector) validateNodeSelector(nodeSelector, `${path}.nodeSelector`, errors);
}

function validateResult(
  result: Decoded<DeviceRequestAllocationResult>,
  names: RequestNames,
  path: string,
  errors: FieldError[],
): void {
  validateRequestRef(result.request ?? '', names, `${path}.request`, errors);
  validateCsiDriverName(result.driver, `${path}.driver`, errors);
  validatePoolName(result.pool, `${path}.pool`, errors);
  validateLabelName(result.device, `${path}.device`, errors);
  validateBinding(result, path, errors);
  validateUid(result.shareID, `${path}.shareID`, errors);
  validateTolerations(result.tolerations, `${path}.tolerations`, errors);
}

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NOT_NORMAL =
  'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters';

/** Source: validateUID, and Validate of github.com/google/uuid, which knows four forms. */
function validateUid(uid: string | undefined, path: string, errors: FieldError[]): void {
  if (uid === undefined || UID.test(uid)) return;
  const plain = uid.toLowerCase().replace(/^urn:uuid:(?=.{36}$)/, '');
  const inner = /^\{.*\}$/s.test(plain) ? plain.slice(1, -1) : plain;
  const isKnown = UID.test(inner) || /^[0-9a-f]{32}$/.test(plain);
  const isLength = [32, 36, 38, 45].includes(uid.length);
  const problem = isLength ? 'invalid UUID format' : `invalid UUID length: ${uid.length}`;
  errors.push(invalid(path, uid, isKnown ? NOT_NORMAL : `error validating uid: ${problem}`));
}

/** Subdomains with slashes between them. Source: validatePoolName. */
export function validatePoolName(name: string | undefined, path: string, errors: FieldError[]): void {
  if (!name) {
    errors.push(required(path));
    return;
  }
  if (name.length > MAX_POOL_LENGTH) errors.push(tooLong(path, MAX_POOL_LENGTH));
  for (const part of name.split('/')) validateSyntax(part, checkDns1123Subdomain, path, errors);
}

const MAX_CONDITIONS = 8;

function validateDeviceStatus(
  device: Decoded<AllocatedDeviceStatus>,
  allocated: ReadonlySet<string>,
  path: string,
  errors: FieldError[],
): void {
  validateCsiDriverName(device.driver, `${path}.driver`, errors);
  validatePoolName(device.pool, `${path}.pool`, errors);
  validateLabelName(device.device, `${path}.device`, errors);
  validateUid(device.shareID, `${path}.shareID`, errors);
  const key = deviceKey(device);
  if (!allocated.has(key)) errors.push(invalid(path, key, 'must be an allocated device in the claim'));
  const { conditions = [] } = device;
  if (conditions.length > MAX_CONDITIONS)
    errors.push(tooMany(`${path}.conditions`, conditions.length, MAX_CONDITIONS));
  validateMetaConditions(conditions, `${path}.conditions`, errors);
  if (device.data !== undefined && Object.keys(device.data).length > 0)
    validateRaw(device.data, `${path}.data`, errors);
  validateNetworkData(device.networkData, `${path}.networkData`, errors);
}

function hasMore(now: readonly unknown[], before: readonly unknown[]): boolean {
  const known = new Set(before.map(canonicalJson));
  return now.some((one) => !known.has(canonicalJson(one)));
}
