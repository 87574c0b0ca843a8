import type { EventRecorder } from '@rollkeeper/client/events';
import type { Informer, InformerFactory } from '@rollkeeper/client/informer';
import type { Clock } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { SlotWork } from '../../manager/index.js';
import { HeldSlots, SlotKeeper, SlotLeader } from '../../slots/index.js';
import type { Coordination } from '../coordination/coordination.js';
import { ShardCopies } from './shard-copies.js';

/** The parts of {@link assembleSlots}. */
export interface SlotParts {
  /** The number of slots; undefined: keys are not spread by slots. */
  readonly slots?: number | undefined;
  /** This replica in the election and in the table; unique to its life. */
  readonly ofThisLife: string;
  readonly coordination: Pick<Coordination, 'slotTableOf'>;
  /** Made with shards. */
  readonly informers: InformerFactory;
  /** The informers without which a controller does not work; asked when a copy is awaited. */
  readonly isNeeded: (informer: Informer) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The slots of a replica, with the figures about them. */
export interface AssembledSlots extends SlotWork {
  readonly keeper: SlotKeeper;
  readonly leader: SlotLeader;
}

/** @throws InvalidOptionError if the coordination has no table of slots */
export function assembleSlots({
  clock,
  coordination,
  informers,
  isNeeded,
  logger,
  ofThisLife: replica,
  slots: count,
}: SlotParts): AssembledSlots | undefined {
  if (count === undefined) return undefined;
  const table = coordination.slotTableOf?.(count);
  if (!table) throw new InvalidOptionError('slots', 'needs a Redis that all replicas share');
  const held = new HeldSlots(count);
  const copies = new ShardCopies({ informers, count, isOptional: (informer) => !isNeeded(informer) });
  return {
    held,
    keeper: new SlotKeeper({ replica, table, held, copies, clock, logger }),
    leader: new SlotLeader({ replica, table, count, clock, logger }),
  };
}

/** Records Events about the objects of which this replica tells, and no others: their owner records them. */
export function eventsInSlots(events: EventRecorder, held: HeldSlots): EventRecorder {
  return {
    record: (about, note) => {
      if (held.tellsOf(about.metadata.namespace)) events.record(about, note);
    },
  };
}
