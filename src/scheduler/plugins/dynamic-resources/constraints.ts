import type { Device, DeviceAttribute, DeviceConstraint } from './resource-api.js';

/** Follows which devices were picked, and says which may still be. What was added is taken away in reverse order. */
export interface ConstraintTracker {
  /** @param requests names by which the constraint may mean the request of this device */
  add(requests: readonly string[], device: Device, driver: string): boolean;
  remove(requests: readonly string[]): void;
}

/** @throws Error for a constraint of a kind that is not known */
export function trackerOf(constraint: DeviceConstraint): ConstraintTracker {
  const { distinctAttribute, matchAttribute, requests = [] } = constraint;
  const attribute = matchAttribute ?? distinctAttribute;
  if (attribute === undefined) throw new Error('empty constraint (unsupported constraint type?)');
  const isMeant = (names: readonly string[]): boolean =>
    requests.length === 0 || names.some((name) => requests.includes(name));
  const seen: string[] = [];
  const isFine =
    matchAttribute === undefined
      ? (value: string) => !seen.includes(value)
      : (value: string) => seen.length === 0 || seen[0] === value;
  return {
    add(names, device, driver) {
      if (!isMeant(names)) return true;
      const found = attributeOf(device, driver, attribute);
      const value = found && textOf(found);
      if (value === undefined || !isFine(value)) return false;
      seen.push(value);
      return true;
    },
    remove(names) {
      if (isMeant(names)) seen.pop();
    },
  };
}

/** Attributes of the driver itself may leave its name out. */
function attributeOf(
  { attributes = {} }: Device,
  driver: string,
  fullName: string,
): DeviceAttribute | undefined {
  if (Object.hasOwn(attributes, fullName)) return attributes[fullName];
  const short = fullName.startsWith(`${driver}/`) ? fullName.slice(driver.length + 1) : undefined;
  return short !== undefined && Object.hasOwn(attributes, short) ? attributes[short] : undefined;
}

/** Distinguishes values of different types too. */
function textOf(attribute: DeviceAttribute): string | undefined {
  for (const type of ['string', 'int', 'bool', 'version'] as const)
    if (attribute[type] !== undefined) return `${type} ${attribute[type]}`;
  return undefined;
}
