import { ObjectShard } from '@rollkeeper/client/api-client';
import type { Informer, InformerFactory } from '@rollkeeper/client/informer';
import { shardRangeOf } from '@rollkeeper/machinery/kubernetes';
import type { SlotCopies } from '../../slots/index.js';

interface ShardCopiesDependencies {
  /** Made with shards. */
  readonly informers: Pick<InformerFactory, 'setShards' | 'waitUntilCurrentIn'>;
  /** The number of slots. */
  readonly count: number;
  /** Whether a controller starts without the objects of an informer. */
  readonly isOptional: (informer: Informer) => boolean;
}

/** The copies of slots in the informers of a replica: a slot is a shard of its own, so that one can come and go while the others stay. */
export class ShardCopies implements SlotCopies {
  private readonly shards = new Map<number, ObjectShard>();
  private kept: string | undefined;

  constructor(private readonly deps: ShardCopiesDependencies) {}

  keep(slots: ReadonlySet<number>): void {
    const wanted = [...slots].sort((one, other) => one - other);
    const text = wanted.join();
    if (text === this.kept) return;
    this.kept = text;
    this.deps.informers.setShards(wanted.map((slot) => this.shardOf(slot)));
  }

  untilCurrent(slot: number, signal: AbortSignal): Promise<void> {
    const { informers, isOptional } = this.deps;
    return informers.waitUntilCurrentIn(this.shardOf(slot), signal, isOptional);
  }

  private shardOf(slot: number): ObjectShard {
    const known = this.shards.get(slot);
    if (known) return known;
    const made = new ObjectShard('object.metadata.namespace', [shardRangeOf(slot, this.deps.count)]);
    this.shards.set(slot, made);
    return made;
  }
}
