import type { Tracer } from '@opentelemetry/api';
import { LinkedAbort, aborted } from '@rollkeeper/machinery/cancellation';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { parseKey } from '@rollkeeper/machinery/kubernetes';
import type { ActivationAdds, Activations, ControllerQueue } from '../activation/index.js';
import type { BuiltController, Controller, DueWork, Enqueue, NamespaceOf } from '../controller/index.js';
import { Enqueuer } from '../controller/index.js';
import type { LeaderAdds } from '../work-queue/index.js';
import type { HeldSlots, SlotKeeper, SlotLeader } from '../slots/index.js';

/** How a replica takes part in slots. */
export interface SlotWork {
  readonly held: HeldSlots;
  readonly keeper: Pick<SlotKeeper, 'run'>;
  readonly leader: Pick<SlotLeader, 'lead'>;
}

/** A controller whose keys are in slots. */
interface SlottedController {
  readonly controller: Pick<Controller, 'name' | 'run'>;
  readonly activations: Pick<Activations, 'beginTerm'>;
  readonly queue: Pick<ControllerQueue, 'inspect' | 'purge'>;
  readonly built: Pick<BuiltController, 'leading' | 'needsSync' | 'watch'>;
  /** See `ControllerDefinition.namespaceOf`. @default that of the key */
  readonly namespaceOf?: NamespaceOf | undefined;
  readonly sweep?: { run(adds: LeaderAdds, signal: AbortSignal): Promise<void> };
  /** Settles once its caches have their first lists. */
  readonly untilFilled: Promise<void>;
}

interface SlottedWorkParts {
  readonly held: HeldSlots;
  readonly keeper: SlotWork['keeper'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer?: Tracer | undefined;
}

/** A queue in the memory of this process has one producer, so its term is always the same. */
const OWN_TERM = { epoch: 1, holder: 'slots' };

/** Works in slots until aborted. Then the others take over, and the keys in progress here end. */
export async function workInSlots(
  controllers: readonly SlottedController[],
  parts: SlottedWorkParts,
  stop: AbortSignal,
): Promise<void> {
  const work = controllers.map(async (managed) => {
    await managed.untilFilled.catch(() => undefined);
    if (!stop.aborted) await workOne(managed, parts, stop);
  });
  await Promise.all([parts.keeper.run(stop), ...work]);
}

/** The work beside the keys begins before them, and ends after the last one: they depend on its caches. */
async function workOne(
  managed: SlottedController,
  parts: SlottedWorkParts,
  stop: AbortSignal,
): Promise<void> {
  const { leading } = managed.built;
  const over = new AbortController();
  const failed = new AbortController();
  const until = new LinkedAbort(stop, failed.signal);
  const beside = leading?.run(over.signal).catch((error: unknown) => {
    failed.abort(error);
    throw error;
  });
  // It is awaited at the end.
  beside?.catch(() => undefined);
  try {
    await leading?.waitUntilReady(until.signal).catch((error: unknown) => {
      if (!until.signal.aborted) throw error;
    });
    if (!until.signal.aborted)
      await Promise.all([watchSlots(managed, parts, until.signal), managed.controller.run(until.signal)]);
  } finally {
    over.abort(stop.reason);
    until.close();
    await beside;
  }
}

/**
 * Turns the changes of the slots that this replica owns into keys of one controller, until aborted: what the leader does for all keys where there are no
 * slots. A slot that begins is added whole from the caches, and nothing is listed for it; what waits of a slot that has ended is dropped.
 */
async function watchSlots(
  { activations, built, controller: { name }, namespaceOf = namespaceOfKey, queue, sweep }: SlottedController,
  { clock, held, logger, tracer }: SlottedWorkParts,
  signal: AbortSignal,
): Promise<void> {
  const adds = await activations.beginTerm(OWN_TERM);
  const enqueue = new Enqueuer({
    controller: name,
    ...{ adds, clock, logger, tracer },
    needsSync: (key) => built.needsSync?.(key) ?? true,
  }).enqueueUntil(signal);
  const within =
    (isOurs: (namespace: string | undefined) => boolean): Enqueue =>
    (request) => {
      if (isOurs(namespaceOf(request.ref))) enqueue(request);
    };
  const owns = (ref: ObjectRef): boolean => held.owns(namespaceOf(ref));
  const stopListening = held.listen({
    // The first thing that a watch tells is everything that there is.
    begun: (slots) => built.watch(within((namespace) => slots.has(held.slotOf(namespace))))(),
    ended: () => void dropOthers(queue, owns, logger),
  });
  const unwatch = built.watch(within((namespace) => held.owns(namespace)));
  const sweeping = sweep?.run(ownAdds(adds, owns), signal);
  await aborted(signal);
  unwatch();
  stopListening();
  await sweeping;
}

/** The due work of the slots that this replica owns, of all that its caches show. */
export function* dueInSlots(
  due: Iterable<DueWork>,
  held: HeldSlots,
  namespaceOf: NamespaceOf = namespaceOfKey,
): Generator<DueWork> {
  for (const work of due) if (held.owns(namespaceOf(work.ref))) yield work;
}

function namespaceOfKey({ namespace }: ObjectRef): string | undefined {
  return namespace;
}

type IsOwned = (key: ObjectRef) => boolean;

function ownAdds(adds: ActivationAdds, owns: IsOwned): LeaderAdds {
  return {
    add: async (key, options) => {
      if (owns(parseKey(key))) await adds.add(key, options);
    },
  };
}

async function dropOthers(queue: SlottedController['queue'], owns: IsOwned, logger: Logger): Promise<void> {
  try {
    const { delayed, parked, waiting } = await queue.inspect(Number.MAX_SAFE_INTEGER);
    for (const { key } of [...delayed, ...parked, ...waiting])
      if (!owns(parseKey(key))) await queue.purge(key);
  } catch (error) {
    logger.warn(
      'keys of slots that are held no longer could not be dropped; they are when their turn comes',
      { error },
    );
  }
}
