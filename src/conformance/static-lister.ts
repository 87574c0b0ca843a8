import { IllegalStateError } from '../errors/index.js';
import type { IndexFunction, Lister } from '../informer/informer.js';
import type { DeepReadonly, KubernetesObject } from '../kubernetes/index.js';
import { keyOf } from '../kubernetes/index.js';

/** A cache that never changes: what a recorded case says was in it. */
export class StaticLister<T extends KubernetesObject> implements Lister<T> {
  constructor(
    private readonly objects: readonly DeepReadonly<T>[],
    private readonly indexes: Readonly<Record<string, IndexFunction<T>>>,
  ) {}

  get(key: string): DeepReadonly<T> | undefined {
    return this.objects.find((object) => keyOf(object.metadata) === key);
  }

  list(): readonly DeepReadonly<T>[] {
    return this.objects;
  }

  byIndex(index: string, value: string): readonly DeepReadonly<T>[] {
    const valuesOf = this.indexes[index];
    if (!valuesOf) throw new IllegalStateError(`there is no index "${index}"`);
    return this.objects.filter((object) => valuesOf(object).includes(value));
  }
}
