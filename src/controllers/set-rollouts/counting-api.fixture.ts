import type { KubernetesObject, ObjectRef, ResourceType } from '../../machinery/kubernetes/index.js';
import { semanticEqual, toDouble } from '../../machinery/kubernetes/index.js';
import { toRfc3339 } from '../../machinery/clock/index.js';
import type { AttemptedWrite } from '../../testing/in-memory/in-memory-api.js';
import { InMemoryApi } from '../../testing/in-memory/in-memory-api.js';

interface CountingApiOptions {
  /** The kind whose generations are counted. */
  readonly kind: ResourceType;
  readonly nowMs: () => number;
  /** Called before each write. */
  readonly onWrite: (write: AttemptedWrite) => void;
  /** Called after each write; what it throws is the answer in place of that of the API. */
  readonly onAnswer?: () => void;
}

/** Counts generations as a server does, and times creations. */
export class CountingApi extends InMemoryApi {
  private readonly specs = new Map<string, unknown>();

  constructor(private readonly options: CountingApiOptions) {
    super(options.onWrite);
  }

  override create<T extends KubernetesObject>(
    ...[type, object, options]: Parameters<InMemoryApi['create']>
  ): Promise<T> {
    const metadata = { ...object.metadata, creationTimestamp: toRfc3339(this.options.nowMs()) };
    return this.answered(super.create<T>(type, { ...object, metadata } as T, options));
  }

  override update<T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    options?: Parameters<InMemoryApi['update']>[2],
  ): Promise<T> {
    return this.answered(super.update<T>(type, object, options));
  }

  override patch<T extends KubernetesObject>(
    type: ResourceType,
    ref: ObjectRef,
    ...more: [Parameters<InMemoryApi['patch']>[2], Parameters<InMemoryApi['patch']>[3]?]
  ): Promise<T> {
    return this.answered(super.patch<T>(type, ref, ...more));
  }

  /** After a write, for a changed spec. */
  count(): void {
    const { kind } = this.options;
    for (const set of this.all<KubernetesObject & { readonly spec?: unknown }>(kind)) {
      const { generation = 0, uid = '' } = set.metadata;
      const before = this.specs.get(uid);
      if (before !== undefined && semanticEqual(before, set.spec)) continue;
      this.specs.set(uid, set.spec);
      this.seed(kind, { ...set, metadata: { ...set.metadata, generation: toDouble(generation) + 1 } });
    }
  }

  protected async answered<A>(answer: Promise<A>): Promise<A> {
    const value = await answer;
    this.options.onAnswer?.();
    return value;
  }
}
