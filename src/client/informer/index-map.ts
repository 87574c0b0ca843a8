import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { IndexFunction } from './informer.js';

/**
 * One index: values to the keys of the objects that have them. Updated incrementally, never rebuilt. A value with a
 * single object, the usual case, needs no set.
 */
export class IndexMap<T> {
  private readonly keysByValue = new Map<string, string | Set<string>>();

  constructor(private readonly valuesOf: IndexFunction<T>) {}

  /** Replaces `old` by `now` for `key`; either may be absent. */
  update(key: string, old: DeepReadonly<T> | undefined, now: DeepReadonly<T> | undefined): void {
    const before = old === undefined ? [] : this.valuesOf(old);
    const after = now === undefined ? [] : this.valuesOf(now);
    for (const value of before) if (!after.includes(value)) this.remove(value, key);
    for (const value of after) if (!before.includes(value)) this.add(value, key);
  }

  keys(value: string): Iterable<string> {
    const keys = this.keysByValue.get(value) ?? [];
    return typeof keys === 'string' ? [keys] : keys;
  }

  private add(value: string, key: string): void {
    const keys = this.keysByValue.get(value);
    if (keys === undefined) this.keysByValue.set(value, key);
    else if (typeof keys !== 'string') keys.add(key);
    else if (keys !== key) this.keysByValue.set(value, new Set([keys, key]));
  }

  private remove(value: string, key: string): void {
    const keys = this.keysByValue.get(value);
    // Remove the value, or empty sets of deleted owners would accumulate.
    if (keys === key) this.keysByValue.delete(value);
    if (keys === undefined || typeof keys === 'string') return;
    keys.delete(key);
    const [first] = keys;
    if (keys.size === 1 && first !== undefined) this.keysByValue.set(value, first);
  }
}
