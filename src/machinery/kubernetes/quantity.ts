/**
 * Kubernetes quantities (`500m`, `1Gi`, `2e3`). The grammar and the canonical form follow the documentation of
 * k8s.io/apimachinery/pkg/api/resource. Values are kept in billionths, as there.
 */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: 'DecimalSI' | 'BinarySI' | 'DecimalExponent';
}

/** Kubernetes' message for an invalid quantity. */
export const QUANTITY_SYNTAX =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE])|([KMGTPE]i)|[eE]([+-]?\d+))?$/;
/** {@link Quantity.nanos} per unit. */
export const NANOS = 1_000_000_000n;
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const MAX_EXPONENT = 40;
/** No real quantity has more digits, and parsing a million of them takes seconds. */
const MAX_LENGTH = 256;

/** @returns undefined if `text` is not a quantity */
export function parseQuantity(text: string): Quantity | undefined {
  const known = parsed.get(text);
  if (known) return known;
  const quantity = readQuantity(text);
  if (quantity) {
    if (parsed.size >= MAX_PARSED) parsed.clear();
    parsed.set(text, quantity);
  }
  return quantity;
}

/** Objects repeat the same few quantities, and bigint arithmetic is slow. */
const parsed = new Map<string, Quantity>();
const MAX_PARSED = 1000;

function readQuantity(text: string): Quantity | undefined {
  const match = text.length <= MAX_LENGTH ? PATTERN.exec(text) : undefined;
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', decimal, binary, exponent] = match;
  if (text === '') return undefined;
  // A number without a digit is zero: `Gi`, `-`.
  const digits = BigInt(whole + fraction || '0');
  const value = scaled(digits, fraction.length, decimal, binary, exponent);
  if (value === undefined) return undefined;
  const format = binary !== undefined ? 'BinarySI' : exponent !== undefined ? 'DecimalExponent' : 'DecimalSI';
  return { nanos: sign === '-' ? -value : value, format };
}

/** A quantity in the form that objects carry. */
export type Amount = string | number;
export type Amounts = Readonly<Record<string, Amount>>;

/** In billionths; 0 if absent or invalid. */
export function nanosOf(amount: Amount | undefined): bigint {
  return parseQuantity(String(amount ?? '0'))?.nanos ?? 0n;
}

/** Digits beyond billionths are rounded up, as Kubernetes does. */
function scaled(
  digits: bigint,
  decimals: number,
  decimal: string | undefined,
  binary: string | undefined,
  exponent: string | undefined,
): bigint | undefined {
  if (binary !== undefined) {
    return divideUp(digits * 1024n ** BigInt(BINARY.indexOf(binary)) * NANOS, 10n ** BigInt(decimals));
  }
  const power = exponent !== undefined ? Number(exponent) : (DECIMAL.indexOf(decimal ?? '') - 3) * 3;
  if (Math.abs(power) > MAX_EXPONENT) return undefined;
  const shift = power + 9 - decimals;
  return shift >= 0 ? digits * 10n ** BigInt(shift) : divideUp(digits, 10n ** BigInt(-shift));
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

/** The canonical form of this value in the API: `0.5` becomes `500m`, `1024Ki` becomes `1Mi`. */
export function formatQuantity(quantity: Quantity): string {
  const { nanos, format } = quantity;
  if (nanos === 0n) return '0';
  const magnitude = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? '-' : '';
  const isBinary = format === 'BinarySI' && magnitude >= 1024n * NANOS && magnitude % NANOS === 0n;
  if (isBinary) {
    const { value, steps } = withoutFactors(magnitude / NANOS, 1024n, BINARY.length - 1);
    return `${sign}${value}${BINARY[steps]}`;
  }
  const { value, steps } = withoutFactors(magnitude, 1000n, DECIMAL.length - 1);
  if (format === 'DecimalExponent') {
    const power = steps * 3 - 9;
    return `${sign}${value}${power === 0 ? '' : `e${power}`}`;
  }
  return `${sign}${value}${DECIMAL[steps]}`;
}

function withoutFactors(value: bigint, factor: bigint, most: number): { value: bigint; steps: number } {
  let steps = 0;
  while (steps < most && value % factor === 0n) {
    value /= factor;
    steps++;
  }
  return { value, steps };
}

const PLAIN = /^(?:0|[1-9]\d{0,2})(?:m|Mi|Gi|Ki)?$/;

/** {@link formatQuantity} of {@link parseQuantity}; undefined if `text` is not a quantity. */
export function canonicalQuantity(text: string): string | undefined {
  if (PLAIN.test(text) && !text.startsWith('0')) return text;
  // Go trims the text as JSON has it, where a line break or a tabulator is written as two other characters.
  const quantity = /[\t\n\v\f\r]/.test(text) ? undefined : parseQuantity(text.trim());
  return quantity && formatQuantity(quantity);
}

const THOUSANDTH = NANOS / 1000n;

/** The canonical form of a quantity in whole thousandths, away from zero; anything else as it is. */
export function roundedUp(text: string): string {
  if (PLAIN.test(text)) return text;
  const quantity = parseQuantity(text);
  if (!quantity || quantity.nanos % THOUSANDTH === 0n) return text;
  const magnitude = quantity.nanos < 0n ? -quantity.nanos : quantity.nanos;
  const rounded = (magnitude / THOUSANDTH + 1n) * THOUSANDTH;
  return formatQuantity({ ...quantity, nanos: quantity.nanos < 0n ? -rounded : rounded });
}
