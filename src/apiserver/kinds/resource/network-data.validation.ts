import type { NetworkDeviceData } from '@rollkeeper/machinery/types/resource-v1';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { addressNumber, addressText, parseCidr } from '../validation/addresses.js';
import { invalid, tooLong } from '../validation/field-errors.js';
import { validateSetOf } from './lists.js';

const MAX_INTERFACE = 256;
const MAX_HARDWARE = 128;
const MAX_IPS = 16;

/** Source: validateNetworkDeviceData. */
export function validateNetworkData(
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
