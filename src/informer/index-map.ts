import type { DeepReadonly } from '../kubernetes/index.js';
import type { IndexFunction } from './informer.js';

/** One index: values to the keys of the objects that have them. Kept up incrementally, never rebuilt. */
export class IndexMap<T> {
  private readonly keysByValue = new Map<string, Set<string>>();

  constructor(private readonly valuesOf: IndexFunction<T>) {}

  /** `key` was `old` and is `now`; either may be absent. */
  update(key: string, old: DeepReadonly<T> | undefined, now: DeepReadonly<T> | undefined): void {
    const before = old === undefined ? [] : this.valuesOf(old);
    const after = now === undefined ? [] : this.valuesOf(now);
    for (const value of before) if (!after.includes(value)) this.remove(value, key);
    for (const value of after) if (!before.includes(value)) this.add(value, key);
  }

  keys(value: string): Iterable<string> {
    return this.keysByValue.get(value) ?? [];
  }

  private add(value: string, key: string): void {
    const keys = this.keysByValue.get(value);
    if (keys) keys.add(key);
    else this.keysByValue.set(value, new Set([key]));
  }

  private remove(value: string, key: string): void {
    const keys = this.keysByValue.get(value);
    keys?.delete(key);
    // An owner that is gone must not stay here as an empty set.
    if (keys?.size === 0) this.keysByValue.delete(value);
  }
}
