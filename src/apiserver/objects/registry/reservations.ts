import { toRfc3339, uuidOf } from '@rollkeeper/machinery/clock';
import type { KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { cloneJson } from '@rollkeeper/machinery/kubernetes';
import { invalid, serverTimeout } from '../../schema/errors/index.js';
import type { Reservation } from '../../kinds/index.js';
import { isStorageConflict, isStorageNotFound, StorageExistsError } from '../../storage/index.js';
import type { StorageKey } from '../../storage/index.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';

/** How often something that is taken is replaced by another choice. */
const MAX_CHOICES = 32;
/** A reservation whose owner is not there is younger than this while its owner is being created. */
const ORPHAN_MS = 60_000;

/** The reservations that an object has got for itself alone while it is being written. */
interface Reserved {
  /** Gives back what this write has taken: it has failed. */
  undo(): Promise<void>;
  /** Gives back what the object had before and has no more: the write has succeeded. */
  settle(): Promise<void>;
}

const NOTHING: Reserved = { undo: () => Promise.resolve(), settle: () => Promise.resolve() };

/**
 * Reserves an object's exclusive resources (addresses, ports): those it names, and a choice for those it does not name.
 * If several requests ask for the same one, the storage decides which is first. Changes `object`.
 * @param old its state before; absent for a creation
 * @throws StatusError 422 naming the field that asks for what is already taken
 */
export async function reserve(
  context: RegistryContext,
  target: ObjectTarget,
  object: UnstructuredObject,
  options: { readonly old?: Readonly<UnstructuredObject>; readonly dryRun: boolean },
): Promise<Reserved> {
  const { kind } = target;
  if (!kind.reservations) return NOTHING;
  const before = new Set(options.old && kind.reservations.wanted(options.old).map(identityOf));
  const named = new Set(kind.reservations.wanted(object).map(identityOf));
  for (let attempt = 0; attempt < MAX_CHOICES; attempt++) {
    const candidate = cloneJson<UnstructuredObject>(object);
    kind.reservations.choose(candidate, context.random);
    const wanted = kind.reservations.wanted(candidate);
    const missing = wanted.filter((one) => !before.has(identityOf(one)));
    const refused = await takeAll(context, missing, options.dryRun);
    if (refused && named.has(identityOf(refused))) throw invalid(kind.type, target.name, [refused.refusal]);
    if (refused) continue;
    object.spec = candidate.spec;
    if (options.dryRun) return NOTHING;
    const kept = new Set(wanted.map(identityOf));
    const left = options.old ? kind.reservations.wanted(options.old) : [];
    return {
      undo: () => release(context, missing),
      settle: () =>
        release(
          context,
          left.filter((one) => !kept.has(identityOf(one))),
        ),
    };
  }
  throw serverTimeout(kind.type, 'allocate');
}

function identityOf({ resource, name }: Reservation): string {
  return `${resource}/${name}`;
}

function keyOf({ resource, name }: Reservation): StorageKey {
  return { resource, namespace: '', name };
}

/** All of them or none. @returns the first one already taken */
async function takeAll(
  context: RegistryContext,
  reservations: readonly Reservation[],
  dryRun: boolean,
): Promise<Reservation | undefined> {
  const taken: Reservation[] = [];
  for (const reservation of reservations) {
    const isMine = dryRun ? !(await isTaken(context, reservation)) : await take(context, reservation);
    if (!isMine) {
      await release(context, taken);
      return reservation;
    }
    if (!dryRun) taken.push(reservation);
  }
  return undefined;
}

async function take(context: RegistryContext, reservation: Reservation): Promise<boolean> {
  const creationTimestamp = toRfc3339(context.clock.now());
  const object = {
    ...reservation.object,
    metadata: { ...reservation.object.metadata, uid: uuidOf(context.random), creationTimestamp },
  };
  for (;;) {
    try {
      await context.storage.create(keyOf(reservation), object);
      return true;
    } catch (error) {
      if (!(error instanceof StorageExistsError)) throw error;
      if (await isTaken(context, reservation)) return false;
      await release(context, [reservation]);
    }
  }
}

/** A reservation of a process that died before it could use it is free again after a while. */
async function isTaken(context: RegistryContext, reservation: Reservation): Promise<boolean> {
  const found = await context.storage.get(keyOf(reservation));
  if (!found) return false;
  const age = context.clock.now() - Date.parse(found.object.metadata.creationTimestamp ?? '');
  if (age < ORPHAN_MS) return true;
  const { namespace, name } = ownerOf(found.object);
  const owner = await context.storage.get({ resource: 'services', namespace, name });
  const kind = context.kinds.find('', 'v1', 'services');
  return (
    !!owner &&
    !!kind?.reservations?.wanted(owner.object).some((one) => identityOf(one) === identityOf(reservation))
  );
}

interface Owned extends KubernetesObject {
  readonly spec?: { readonly parentRef?: Owner } & Owner;
}

interface Owner {
  readonly namespace?: string;
  readonly name?: string;
}

function ownerOf(object: KubernetesObject): { namespace: string; name: string } {
  const { spec }: Owned = object;
  const { namespace = '', name = '' } = spec?.parentRef ?? spec ?? {};
  return { namespace, name };
}

/** Gives them back. */
export async function release(context: RegistryContext, reservations: readonly Reservation[]): Promise<void> {
  for (const reservation of reservations) {
    try {
      const found = await context.storage.get(keyOf(reservation));
      if (found) await context.storage.delete(keyOf(reservation), found.revision);
    } catch (error) {
      // Another request was faster and owns it.
      if (!isStorageNotFound(error) && !isStorageConflict(error)) throw error;
    }
  }
}
