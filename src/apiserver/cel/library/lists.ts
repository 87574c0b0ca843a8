import type { Environment } from '@marcbachmann/cel-js';
import { EvaluationError } from '@marcbachmann/cel-js';
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { sameJson } from '@rollkeeper/machinery/kubernetes';
import { meter } from './cost.js';
import { register, registerNamespace } from './register.js';

type Items = readonly unknown[] | ReadonlySet<unknown>;

/** Source: apiserver/pkg/cel/library/lists.go, and the sets extension of cel-go. */
export function registerLists(environment: Environment): void {
  register(environment, {
    'list<T>.isSorted(): bool': (items: Items) =>
      [...items].every((item, index, all) => index === 0 || !isLess(item, all[index - 1])),
    'list<int>.sum(): int': (items: Iterable<bigint>) => [...items].reduce((sum, item) => sum + item, 0n),
    'list<double>.sum(): double': (items: Iterable<number>) =>
      [...items].reduce((sum, item) => sum + item, 0),
    'list<google.protobuf.Duration>.sum(): google.protobuf.Duration': (items: Iterable<Duration>) =>
      [...items].reduce((sum, item) => sum.addDuration(item), new Duration(0n)),
    'list<T>.min(): T': (items: Items) => extreme(items, 'min', (item, best) => isLess(item, best)),
    'list<T>.max(): T': (items: Items) => extreme(items, 'max', (item, best) => isLess(best, item)),
    'list<T>.indexOf(T): int': (items: Items, wanted: unknown) =>
      BigInt([...items].findIndex((item) => isSame(item, wanted))),
    'list<T>.lastIndexOf(T): int': (items: Items, wanted: unknown) =>
      BigInt([...items].findLastIndex((item) => isSame(item, wanted))),
  });
  const sets = registerNamespace(environment, 'sets');
  register(environment, {
    [`${sets}.contains(list<T>, list<T>): bool`]: (_sets, all: Items, some: Items) => containsAll(all, some),
    [`${sets}.equivalent(list<T>, list<T>): bool`]: (_sets, left: Items, right: Items) =>
      containsAll(left, right) && containsAll(right, left),
    [`${sets}.intersects(list<T>, list<T>): bool`]: (_sets, left: Items, right: Items) =>
      [...left].some((item) => includes(right, item)),
  });
}

/** Numbers, texts, times and durations have an order. */
function isLess(left: unknown, right: unknown): boolean {
  return (left as number) < (right as number);
}

function extreme(items: Items, name: string, isBetter: (item: unknown, best: unknown) => boolean): unknown {
  const [first, ...rest] = items;
  if (first === undefined) throw new EvaluationError(`${name} called on empty list`);
  return rest.reduce((best, item) => (isBetter(item, best) ? item : best), first);
}

function containsAll(all: Items, some: Items): boolean {
  return [...some].every((item) => includes(all, item));
}

function includes(items: Items, wanted: unknown): boolean {
  return [...items].some((item) => {
    meter.charge(1);
    return isSame(item, wanted);
  });
}

/** Equal as values: lists and maps by what they hold, objects by their JSON. */
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (isNumber(left)) return isNumber(right) && Number(left) === Number(right);
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (isItems(left)) return isItems(right) && sameItems([...left], [...right]);
  if (left instanceof Map)
    return (
      right instanceof Map &&
      left.size === right.size &&
      [...left].every(([key, value]) => right.has(key) && isSame(value, right.get(key)))
    );
  if ('json' in left && 'json' in right) return sameJson(left.json, right.json);
  return left.constructor === right.constructor && left.valueOf() === right.valueOf();
}

function sameItems(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, index) => isSame(item, right[index]));
}

function isItems(value: object): value is Items {
  return Array.isArray(value) || value instanceof Set;
}

function isNumber(value: unknown): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}
