import type { FieldError } from '../kind-definition.js';
import { duplicate, required, tooMany } from '../validation/field-errors.js';
import { checkDns1123Label } from '@rollkeeper/machinery/kubernetes';
import { validateSyntax } from '../validation/words.js';

export const RESOURCE_GROUP = 'resource.k8s.io';

type Check<T> = (item: T, path: string, errors: FieldError[]) => void;

/** A list with a maximum number of items: nothing is said of the items of a longer one. Source: validateSlice. */
export function validateItems<T>(
  items: readonly T[] | undefined,
  most: number,
  path: string,
  errors: FieldError[],
  check: Check<T>,
): void {
  if (!items) return;
  if (items.length > most) errors.push(tooMany(path, items.length, most));
  else items.forEach((item, index) => check(item, `${path}[${index}]`, errors));
}

/** The same where no two items may have one key, which is said last. Source: validateSet. */
export function validateSetOf<T>(
  items: readonly T[] | undefined,
  most: number,
  path: string,
  errors: FieldError[],
  { check, keyOf }: { readonly check: Check<T>; readonly keyOf: (item: T) => string },
): void {
  validateItems(items, most, path, errors, check);
  if (items && items.length <= most) refuseRepeated(items, path, errors, keyOf);
}

export function refuseRepeated<T>(
  items: readonly T[],
  path: string,
  errors: FieldError[],
  keyOf: (item: T) => string,
): void {
  const seen = new Set<string>();
  items.forEach((item, index) => {
    const key = keyOf(item);
    if (seen.has(key)) errors.push(duplicate(`${path}[${index}]`, key));
    seen.add(key);
  });
}

/** The name of a request or a device. An empty one is no label either. */
export function validateLabelName(name: string | undefined, path: string, errors: FieldError[]): void {
  validateSyntax(name ?? '', checkDns1123Label, path, errors);
}

/** The name of a set of counters, which is said to be missing where it is. */
export function validateCounterName(name: string | undefined, path: string, errors: FieldError[]): void {
  if (!name) errors.push(required(path));
  else validateLabelName(name, path, errors);
}
