/** How many characters, items or entries a value has: at least and at most. */
export interface Size {
  readonly min: number;
  /** Infinity where nothing is known. */
  readonly max: number;
}

/**
 * The maximum size of values of a declared type. Nested types are resolved lazily, so that a large schema only costs
 * what an expression uses.
 */
export interface DeclaredSizes {
  /** Most characters, items or entries; 0 for what has none of them. */
  readonly max: number;
  /** Fewest characters of the JSON of a value. */
  readonly minJson: number;
  /** The sizes of the items of a list, or of the values of a map. */
  items(): DeclaredSizes | undefined;
  /** The sizes of the keys of a map. */
  keys(): DeclaredSizes | undefined;
  /** The sizes of a field, by its name in expressions. */
  field(name: string): DeclaredSizes | undefined;
}

export const UNKNOWN_SIZE: Size = { min: 0, max: Number.POSITIVE_INFINITY };

export function exactly(size: number): Size {
  return { min: size, max: size };
}

export function unionOf(left: Size, right: Size): Size {
  return { min: Math.min(left.min, right.min), max: Math.max(left.max, right.max) };
}

export function sumOf(left: Size, right: Size): Size {
  return { min: left.min + right.min, max: left.max + right.max };
}

export function productOf(left: Size, right: Size): Size {
  return { min: times(left.min, right.min), max: times(left.max, right.max) };
}

/** 0 × anything is 0, even Infinity. */
export function times(left: number, right: number): number {
  return left === 0 || right === 0 ? 0 : left * right;
}

/** The cost of a size, in whole units, at `factor` for each of its units. */
export function scaled(size: number, factor: number): number {
  return Math.ceil(times(size, factor));
}
