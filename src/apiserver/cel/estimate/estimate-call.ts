import type { Size } from './size.js';
import { exactly, productOf, scaled, sumOf, times } from './size.js';

/** An argument of a function, as far as it decides the cost. */
export interface Operand {
  readonly size: Size;
  readonly type: OperandType;
  /** The size and type of the items, if this is a list of items whose type is known. */
  readonly items?: { readonly size: Size; readonly type: OperandType };
  /** Its value, where the expression has it as a number. */
  readonly literal?: number;
}

interface OperandType {
  readonly kind: string;
  readonly name: string;
}

interface CallEstimate {
  /** At most, without what it takes to find the operands. */
  readonly cost: number;
  /** Size of the result, if it is known. */
  readonly size?: Size;
}

const TRAVERSAL = 0.1;
const PATTERN = 0.25;
const LONGEST_FORMAT_PATTERN = 128;
const LONGEST_FORMAT = 64;
const CHECK = 350_000;
const ADDRESS_BYTES = 16;
const NOMINAL: CallEstimate = { cost: 1 };

/** Functions and methods together: their names differ. */
type Estimator = (target: Operand | undefined, args: readonly Operand[]) => CallEstimate | undefined;

/**
 * Sources: EstimateCallCost in apiserver/pkg/cel/library/cost.go, functionCost in cel-go/checker/cost.go, the costs in
 * cel-go/ext/sets.go. What is in neither costs one unit.
 */
const ESTIMATORS: Readonly<Record<string, Estimator>> = {
  check: () => ({ cost: CHECK }),
  fieldSelector: (_target, [text]) => text && { cost: selectorCost(text.size.max) },
  labelSelector: (_target, [text]) => text && { cost: selectorCost(text.size.max) },

  isSorted: onItems,
  sum: onItems,
  max: onItems,
  min: onItems,
  indexOf: onItems,
  lastIndexOf: onItems,
  join: (target, [separator]) => target && joined(target, separator),

  url: (_target, [text]) => text && { cost: traversal(text), size: text.size },
  lowerAscii: sameSize,
  upperAscii: sameSize,
  substring: sameSize,
  trim: sameSize,
  replace: (target, [from, to]) => target && from && to && replaced(target.size, from.size, to.size),
  split: (target, [, limit]) =>
    target && {
      cost: scaled(target.size.max, 2 * TRAVERSAL),
      size: { min: 0, max: limit?.literal ?? target.size.max },
    },
  find,
  findAll: find,
  startsWith: (_target, [text]) => text && { cost: traversal(text) },
  endsWith: (_target, [text]) => text && { cost: traversal(text) },
  contains: (target, [text]) => target && text && { cost: times(traversal(target), traversal(text)) },
  format: (target) => target && { cost: traversal(target) },
  matches: (target, [pattern]) => target && pattern && { cost: matching(target, pattern) },

  bytes: (_target, [text]) =>
    text?.type.name === 'string'
      ? { cost: traversal(text), size: { min: text.size.min, max: text.size.max * 4 } }
      : undefined,
  string: (_target, [bytes]) =>
    bytes?.type.name === 'bytes'
      ? { cost: traversal(bytes), size: { min: Math.floor(bytes.size.min / 4), max: bytes.size.max } }
      : undefined,

  cidr: parsing,
  isIP: parsing,
  isCIDR: parsing,
  ip: parsing,
  quantity: parsing,
  isQuantity: parsing,
  semver: parsing,
  isSemver: parsing,
  'ip.isCanonical': (_target, [text]) => text && { cost: scaled(text.size.max, 2 * TRAVERSAL) },
  containsIP: (_target, [address]) => address && { cost: comparing() + parsed(address) },
  containsCIDR: (_target, [cidr]) =>
    cidr && { cost: comparing() + scaled(ADDRESS_BYTES, TRAVERSAL) + 1 + parsed(cidr) },
  validate: (_target, [text]) => text && { cost: scaled(traversal(text), LONGEST_FORMAT_PATTERN * PATTERN) },

  'sets.contains': (_sets, [left, right]) => left && right && pairs(left, right, 1),
  'sets.intersects': (_sets, [left, right]) => left && right && pairs(left, right, 1),
  'sets.equivalent': (_sets, [left, right]) => left && right && pairs(left, right, 2),
};

/**
 * @param name with the namespace where there is one, as in `sets.contains`
 * @param target undefined for functions
 */
export function estimateCall(
  name: string,
  target: Operand | undefined,
  args: readonly Operand[],
): CallEstimate {
  const estimate = Object.hasOwn(ESTIMATORS, name) ? ESTIMATORS[name]! : undefined;
  return estimate?.(target, args) ?? NOMINAL;
}

export function estimateOperator(operator: string, left: Operand, right: Operand): CallEstimate {
  switch (operator) {
    case '==':
      return { cost: equalityOf(left, right) ?? comparison(left, right) };
    case '!=':
      return { cost: comparison(left, right) };
    case '<':
    case '<=':
    case '>':
    case '>=':
      return { cost: ordering(left, right) };
    case '+':
      return addition(left, right);
    case 'in':
      return { cost: membership(right) };
    default:
      return NOMINAL;
  }
}

/** Equality of two values is found out at the end of the smaller one. */
function comparison(left: Operand, right: Operand): number {
  return scaled(Math.min(left.size.max, right.size.max), TRAVERSAL);
}

const NOMINAL_EQUALITY = new Set(['kubernetes.Quantity', 'net.IP', 'net.CIDR']);

function equalityOf(left: Operand, right: Operand): number | undefined {
  const { name } = left.type;
  if (name !== right.type.name) return undefined;
  if (NOMINAL_EQUALITY.has(name)) return 1;
  if (name === 'kubernetes.NamedFormat') return scaled(LONGEST_FORMAT, TRAVERSAL);
  if (name !== 'kubernetes.URL') return undefined;
  return right.size.max === Number.POSITIVE_INFINITY ? 1 : scaled(right.size.max, TRAVERSAL);
}

function ordering(left: Operand, right: Operand): number {
  const kinds = [left, right].map(textKind);
  if (kinds.includes('text')) return comparison(left, right);
  return kinds.includes('unknown') ? Math.max(1, comparison(left, right)) : 1;
}

function addition(left: Operand, right: Operand): CallEstimate {
  const size = sumOf(left.size, right.size);
  const kinds = [left, right].map(textKind);
  if (kinds.includes('text')) return { cost: scaled(size.max, TRAVERSAL), size };
  if (left.type.kind === 'list' || right.type.kind === 'list') return { cost: 1, size };
  return kinds.includes('unknown') ? { cost: Math.max(1, scaled(size.max, TRAVERSAL)), size } : NOMINAL;
}

function membership({ type, size }: Operand): number {
  if (type.kind === 'list') return size.max;
  return type.kind === 'dyn' ? Math.max(1, size.max) : 1;
}

function textKind({ type }: Operand): 'text' | 'unknown' | 'other' {
  if (isText(type)) return 'text';
  return type.kind === 'dyn' ? 'unknown' : 'other';
}

function isText({ name }: OperandType): boolean {
  return name === 'string' || name === 'bytes';
}

function traversal({ size }: Operand): number {
  return scaled(size.max, TRAVERSAL);
}

function sameSize(target: Operand | undefined): CallEstimate | undefined {
  return target && { cost: traversal(target), size: target.size };
}

/** Searches in texts have the same names. */
function onItems(target: Operand | undefined): CallEstimate | undefined {
  if (!target) return undefined;
  const { items } = target;
  if (!items) return { cost: traversal(target) };
  const ofOne = isText(items.type) ? 1 + scaled(items.size.max, TRAVERSAL) : 1;
  return { cost: times(target.size.max, ofOne) };
}

function joined({ size, items }: Operand, separator: Operand | undefined): CallEstimate {
  let whole = items ? productOf(size, items.size) : exactly(0);
  if (separator) {
    const between = { min: Math.max(0, size.min - 1), max: Math.max(0, size.max - 1) };
    whole = sumOf(whole, productOf(separator.size, between));
  }
  return { cost: scaled(whole.max, TRAVERSAL), size: whole };
}

/** The longest result replaces the shortest parts by the longest ones, as often as there may be some. */
function replaced(text: Size, from: Size, to: Size): CallEstimate {
  const longest = replacements(text.max, from.min, to.max <= from.min);
  const shortest = replacements(text.min, from.max, from.max <= to.min);
  const count: Size = { min: shortest.count, max: longest.count };
  const kept: Size = { min: shortest.kept, max: longest.kept };
  return { cost: scaled(text.max, 2 * TRAVERSAL), size: sumOf(productOf(count, to), kept) };
}

function replacements(length: number, part: number, isNoGain: boolean): { count: number; kept: number } {
  // An empty part is found around every character.
  if (part === 0) return { count: length + 1, kept: length };
  if (isNoGain) return { count: 0, kept: length };
  return { count: part === Number.POSITIVE_INFINITY ? 0 : Math.ceil(length / part), kept: 0 };
}

function find(target: Operand | undefined, [pattern]: readonly Operand[]): CallEstimate | undefined {
  return target && pattern && { cost: matching(target, pattern), size: { min: 0, max: target.size.max } };
}

function matching(text: Operand, pattern: Operand): number {
  return times(scaled(text.size.max + 1, TRAVERSAL), scaled(pattern.size.max, PATTERN));
}

/** As a method, as in `cidr.ip()`, it only reads a field. */
function parsing(target: Operand | undefined, [text]: readonly Operand[]): CallEstimate | undefined {
  return !target && text ? { cost: traversal(text) } : undefined;
}

function comparing(): number {
  return scaled(2 * ADDRESS_BYTES, TRAVERSAL);
}

function parsed(operand: Operand): number {
  return operand.type.name === 'string' || operand.type.kind === 'dyn' ? traversal(operand) : 0;
}

function pairs(left: Operand, right: Operand, factor: number): CallEstimate {
  return { cost: scaled(times(left.size.max, right.size.max), factor) + 1 };
}

const NEW_LIST = 10;
const NEW_STRUCT = 40;

function selectorCost(length: number): number {
  const requirements = scaled(length, 0.5);
  return NEW_LIST + scaled(length, TRAVERSAL) + times(requirements, NEW_LIST + NEW_STRUCT);
}
