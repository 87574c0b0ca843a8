import * as z from 'zod';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Kind, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { DNS_1035_LABEL, MAX_LABEL_LENGTH, keyOf } from '@rollkeeper/machinery/kubernetes';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { IndexFunction, Informer } from '@rollkeeper/client/informer';
import type {
  BuiltController,
  ControllerDefinition,
  ControllerDependencies,
  DueWork,
  Enqueue,
} from '../../controller/index.js';
import { CONSTRUCT, RIGHTS, dueObjects } from '../../controller/index.js';
import type { QueueTuning } from '../../work-queue/index.js';
import { compileWorkQueueOptions } from '../../work-queue/index.js';
import type { ControllerBehaviour, ControllerTraits, KeyLimit } from './controller-spec.js';
import { rightsOf } from './declared-rights.js';
import { NamedCaches } from './named-caches.js';
import { pauseChanged } from './paused.js';
import { allOf, anyOf } from './predicates.js';
import { SELECTOR_INDEX, selectorIndex } from './selector-index.js';
import { syncOf } from './spec-sync.js';
import type { OwnedKind } from './watched-events.js';
import { enqueueItself, enqueueMapped, enqueueOwner, usualUrgency } from './watched-events.js';

const tuning = z.object({
  name: z
    .string()
    .max(MAX_LABEL_LENGTH)
    .regex(new RegExp(`^${DNS_1035_LABEL}$`), 'must be lower-case letters, digits and hyphens'),
  workers: z.int().min(1).max(10_000).default(5),
  syncTimeoutMs: z.int().min(1).optional(),
});

/**
 * Defines a controller for `manager.add`. Nothing runs before the manager does. Give either `reconcile`, or the three
 * steps `observe`, `decide` and `act`.
 * @example
 * ```ts
 * defineController({ name: 'ceiling', for: Deployment, reconcile: async (request, { client, object }) => { … } });
 * defineController({ name: 'counter', for: Node }, ({ clock }) => ({ reconcile: … }));
 * ```
 * @param behaviourOf the rest of the controller, if it depends on what the controller is built from; called once for each life of
 * the controller
 * @throws InvalidOptionError naming the option
 */
export function defineController<T extends KubernetesObject, Seen = unknown, Plan = unknown>(
  controller: ControllerTraits<T> & ControllerBehaviour<T, Seen, Plan>,
): ControllerDefinition;
export function defineController<T extends KubernetesObject, Seen = unknown, Plan = unknown>(
  traits: ControllerTraits<T>,
  behaviourOf: (dependencies: ControllerDependencies) => ControllerBehaviour<T, Seen, Plan>,
): ControllerDefinition;
export function defineController<T extends KubernetesObject>(
  traits: ControllerTraits<T>,
  behaviourOf?: (dependencies: ControllerDependencies) => ControllerBehaviour<T>,
): ControllerDefinition {
  const { name, syncTimeoutMs, workers } = compileOptions(tuning, traits, 'controller');
  // Without the second argument the first is all of it.
  const whole = behaviourOf ? undefined : (traits as ControllerTraits<T> & ControllerBehaviour<T>);
  if (whole) assertWorks(whole);
  const { aliases, byDefault, eventSource, namespaceOf, needsWholeCluster, perNamespace, queue } = traits;
  const { serviceAccount, trims, worksOn } = traits;
  const queueing = traits.queueing && checkedTuning(traits.queueing);
  const construct = (dependencies: ControllerDependencies): BuiltController => {
    const behaviour = whole ?? behaviourOf?.(dependencies);
    assertWorks(behaviour);
    return build(traits, behaviour, dependencies);
  };
  return {
    ...{
      aliases,
      byDefault,
      eventSource,
      namespaceOf,
      needsWholeCluster,
      perNamespace,
      queue,
      queueing,
      serviceAccount,
      trims,
      worksOn,
    },
    name,
    type: traits.for,
    defaultWorkers: workers,
    syncTimeoutMs,
    [RIGHTS]: () => rightsOf(construct, traits.writes ?? []),
    [CONSTRUCT]: construct,
  };
}

/** @throws InvalidOptionError naming what is wrong, or not a controller's to say */
function checkedTuning(given: QueueTuning): QueueTuning {
  const unknown = Object.keys(given).find((name) => !QUEUE_TUNING.some((each) => each === name));
  if (unknown !== undefined)
    throw new InvalidOptionError(
      `controller.queueing.${unknown}`,
      `is not one of ${QUEUE_TUNING.join(', ')}`,
    );
  compileWorkQueueOptions(given);
  return given;
}

const QUEUE_TUNING: readonly (keyof QueueTuning)[] = [
  ...(['maxRetries', 'parkedRetryMs', 'backoffBaseMs', 'backoffMaxMs'] as const),
  ...(['bucketRatePerSecond', 'bucketBurst'] as const),
];

function assertWorks(
  behaviour: Partial<Record<'reconcile' | 'observe' | 'decide' | 'act', unknown>> | undefined,
): asserts behaviour {
  const { act, decide, observe, reconcile } = behaviour ?? {};
  const steps = [observe, decide, act].filter((step) => step !== undefined).length;
  if (steps === (reconcile ? 0 : 3)) return;
  throw new InvalidOptionError(
    'controller.reconcile',
    reconcile
      ? 'is one way to work, and observe, decide and act are the other: give one of them'
      : 'is missing; or, in its place, all of observe, decide and act',
  );
}

function build<T extends KubernetesObject>(
  { for: kind, name, pausable = false }: Pick<ControllerTraits<T>, 'for' | 'name' | 'pausable'>,
  behaviour: ControllerBehaviour<T>,
  dependencies: ControllerDependencies,
): BuiltController {
  const { figures, indexes = [], informerOf, leading, limit, reads = [], unreadable } = behaviour;
  const caches = new NamedCaches(name, dependencies.informers);
  const own = behaviour.objectOf ? undefined : caches.informerOf(kind);
  const subscribe = subscriptionsOf(pausable ? noticingPauses(behaviour) : behaviour, own, caches);
  for (const each of reads) caches.informerOf(each);
  for (const { kind: indexed, name: index, valuesOf } of indexes)
    caches.informerOf(indexed).addIndex(index, valuesOf);
  const objectOf = behaviour.objectOf ?? ((key: string) => own?.lister.get(key));
  const { needsSync, owns = [] } = behaviour;
  const due = dueOf(behaviour, own);
  return {
    sync: syncOf({ behaviour, caches, objectOf, dependencies, pausable }),
    watch: (enqueue) => subscribe(limit ? limited(limit, enqueue) : enqueue),
    ...(needsSync && { needsSync: (key) => (limit?.includes(key) ?? true) && needsSync(key) }),
    ...(due && { due: () => (limit ? dueWithin(limit, due()) : due()) }),
    ...(behaviour.objectOf && { objectOf }),
    owns: owns.map((entry) => {
      const { adoptable = false, kind: owned, selected = adoptable } = ownedKindOf(entry);
      return { kind: owned, isSelected: selected };
    }),
    ...(leading && { leading }),
    ...(informerOf && { informerOf }),
    ...(unreadable && { unreadable }),
    ...(figures && { figures }),
  };
}

/** The end of a pause wakes the object past all predicates: changes were passed over meanwhile. */
function noticingPauses<T extends KubernetesObject>(
  behaviour: ControllerBehaviour<T>,
): ControllerBehaviour<T> {
  const { predicates = [] } = behaviour;
  return {
    ...behaviour,
    predicates: predicates.length === 0 ? [] : [anyOf(pauseChanged, allOf(...predicates))],
  };
}

function ownedKindOf(entry: Kind | OwnedKind): OwnedKind {
  return 'resource' in entry ? { kind: entry } : entry;
}

/** All that turns changes into keys. The caches that it needs are named at once. */
function subscriptionsOf<T extends KubernetesObject>(
  behaviour: ControllerBehaviour<T>,
  own: Informer<T> | undefined,
  caches: NamedCaches,
): (enqueue: Enqueue) => () => void {
  const { owns = [], predicates = [], urgency = usualUrgency, watches = [] } = behaviour;
  const owned = owns
    .map(ownedKindOf)
    .map(({ kind, ...how }) => ({ ...how, informer: caches.informerOf(kind) }));
  if (owned.some(({ adoptable }) => adoptable))
    own?.addIndex(SELECTOR_INDEX, selectorIndex as unknown as IndexFunction<T>);
  const watched = watches.map((entry) => ({ ...entry, informer: caches.informerOf(entry.kind, entry) }));
  return (enqueue) => {
    const removals = [
      behaviour.whileLeading?.(enqueue) ?? (() => undefined),
      ...(own ? [enqueueItself(own, predicates, urgency, enqueue)] : []),
      ...(own ? owned.map((each) => enqueueOwner({ ...each, owner: own, enqueue })) : []),
      ...watched.map((each) =>
        enqueueMapped({ ...each, enqueue, map: (object) => each.map(object, caches.listerOf) }),
      ),
    ];
    return () => removals.forEach((remove) => remove());
  };
}

function dueOf<T extends KubernetesObject>(
  { due, isDue }: ControllerBehaviour<T>,
  own: Informer<T> | undefined,
): (() => Iterable<DueWork>) | undefined {
  if (due) return due;
  return own && isDue && (() => dueObjects(own.lister, isDue));
}

/** The same for the included keys alone: a sync must have seen what includes its key, or it would pass it over. */
function limited(limit: KeyLimit, enqueue: Enqueue): Enqueue {
  return (request) => {
    const key = keyOf(request.ref);
    if (!limit.includes(key)) return;
    enqueue({ ...request, mustHaveSeen: [...(request.mustHaveSeen ?? []), ...(limit.restsOn?.(key) ?? [])] });
  };
}

function* dueWithin(limit: KeyLimit, due: Iterable<DueWork>): Generator<DueWork> {
  for (const work of due) if (limit.includes(keyOf(work.ref))) yield work;
}
