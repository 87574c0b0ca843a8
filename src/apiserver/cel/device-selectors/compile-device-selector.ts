import type { CelProgram } from '../index.js';
import { CostBudget, QuantityValue, SemverValue, compileExpression, objectOf } from '../index.js';

/** A device as an expression sees it. Names of attributes and capacities without a domain are the driver's. */
export interface SelectableDevice {
  readonly driver: string;
  readonly attributes: Readonly<Record<string, DeviceAttribute>>;
  readonly capacity: Readonly<Record<string, { readonly value: string | number }>>;
  readonly allowMultipleAllocations: boolean;
}

interface DeviceAttribute {
  readonly string?: string;
  readonly int?: number | bigint;
  readonly bool?: boolean;
  readonly version?: string;
}

/**
 * The largest cost of the expression for one device. Source: CELSelectorExpressionMaxCost in k8s.io/api/resource/v1.
 */
const MOST_COST = 1_000_000;
/** Classes and claims repeat the same few expressions. */
const MOST_KEPT = 1000;

const DEVICE = objectOf('kubernetes.DRADevice', {
  driver: 'string',
  attributes: { kind: 'value', name: 'map<string, map<string, dyn>>' },
  capacity: { kind: 'value', name: 'map<string, map<string, kubernetes.Quantity>>' },
  allowMultipleAllocations: 'bool',
});

const compiled = new Map<string, CelProgram>();

/**
 * A selector of devices, as DeviceClasses and ResourceClaims state it.
 * @throws Error for an expression that cannot be compiled, and from the selector where it fails on a device
 */
export function compileDeviceSelector(expression: string): (device: SelectableDevice) => boolean {
  const program = programOf(expression);
  return (device) => {
    const outcome = program.evaluate({ device: toValue(device) }, new CostBudget(MOST_COST));
    if (outcome.type !== 'value') throw new Error(`CEL runtime error: ${outcome.message}`);
    if (typeof outcome.value !== 'boolean') throw new Error('CEL runtime error: the result is no bool');
    return outcome.value;
  };
}

function programOf(expression: string): CelProgram {
  const known = compiled.get(expression);
  if (known) return known;
  const { problem, program } = compileExpression(expression, { variables: { device: DEVICE } });
  if (!program) throw new Error(`CEL compile error: ${problem}`);
  if (compiled.size >= MOST_KEPT) compiled.clear();
  compiled.set(expression, program);
  return program;
}

function toValue({ allowMultipleAllocations, attributes, capacity, driver }: SelectableDevice) {
  return {
    driver,
    allowMultipleAllocations,
    attributes: byDomain(attributes, driver, valueOf),
    capacity: byDomain(capacity, driver, ({ value }) => QuantityValue.of(String(value))),
  };
}

function byDomain<T>(
  named: Readonly<Record<string, T>>,
  driver: string,
  toCel: (value: T) => unknown,
): ReadonlyMap<string, ReadonlyMap<string, unknown>> {
  const domains = new Map<string, Map<string, unknown>>();
  for (const [name, value] of Object.entries(named)) {
    const slash = name.indexOf('/');
    const domain = slash < 0 ? driver : name.slice(0, slash);
    const ofDomain = domains.get(domain) ?? new Map<string, unknown>();
    domains.set(domain, ofDomain.set(name.slice(slash + 1), toCel(value)));
  }
  return withEmptyDomains(domains);
}

/**
 * A domain that the device has nothing of is empty, so that `has(device.attributes["d"].a)` needs no check before it. The library
 * knows maps by their constructor, hence no class of its own.
 */
function withEmptyDomains(domains: Map<string, Map<string, unknown>>): typeof domains {
  const get = domains.get.bind(domains);
  domains.get = (domain) => get(domain) ?? new Map<string, unknown>();
  return domains;
}

function valueOf({ bool, int, string, version }: DeviceAttribute): unknown {
  if (int !== undefined) return BigInt(int);
  const value = bool ?? string;
  if (value !== undefined) return value;
  const parsed = version === undefined ? undefined : SemverValue.parse(version);
  if (!parsed) throw new Error(`unsupported attribute value ${version ?? ''}`);
  return parsed;
}
