import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { LongWork } from '@rollkeeper/machinery/clock';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { updateInPieces, readOwners, shapeOfType, writeOwners } from '../../schema/managed-fields/index.js';
import type { ManagedFieldsEntry, Manager, Owners } from '../../schema/managed-fields/index.js';
import { emptyObjectOf } from '../../schema/index.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';

const NOBODY: Owners = new Map();

/**
 * The record of a new object: `manager` owns all fields that it has sent and all that defaults derive from them, but no
 * field of a status that creations lose.
 * @returns undefined for kinds whose ownership is not recorded from their creation
 */
export async function ownersOfNew(
  context: RegistryContext,
  { kind }: Pick<ObjectTarget, 'kind'>,
  object: Readonly<UnstructuredObject>,
  manager: Manager | undefined,
  work: LongWork,
): Promise<ManagedFieldsEntry[] | undefined> {
  if (!manager || kind.ownershipFrom !== 'creation') return undefined;
  const shape = shapeOfType(context.schemas, kind.schema);
  const time = toRfc3339(context.clock.now());
  const before = emptyObjectOf(context.schemas, kind.schema);
  const { status, ...rest } = object;
  const after = kind.subresources.includes('status') || status === undefined ? rest : object;
  const owners = await work.run(updateInPieces(NOBODY, { before, after, shape }, manager, time));
  await work.giveWay();
  return writeOwners(owners);
}

/**
 * Records that `manager` owns the differences between `current` and `candidate`. Ownership is only tracked from an
 * object's first apply (ADR 0007). Writing one empty entry stops the tracking.
 * @param manager absent: `candidate` names all owners, also if there are none
 */
export async function trackUpdate(
  context: RegistryContext,
  { kind }: Pick<ObjectTarget, 'kind'>,
  candidate: UnstructuredObject,
  current: Readonly<UnstructuredObject>,
  manager: Manager | undefined,
  work: LongWork,
): Promise<void> {
  const submitted = candidate.metadata.managedFields ?? [];
  if (submitted.length === 1 && isEmptyEntry(submitted[0])) {
    delete candidate.metadata.managedFields;
    return;
  }
  const kept = current.metadata.managedFields ?? [];
  // A client without knowledge of ownership, or with a corrupt list, does not take any away.
  const isKnown = submitted.length > 0 || !manager;
  const owners = (isKnown && readOwners(submitted)) || readOwners(kept) || NOBODY;
  if (owners.size === 0) {
    delete candidate.metadata.managedFields;
    return;
  }
  await work.giveWay();
  const shape = shapeOfType(context.schemas, kind.schema);
  const time = toRfc3339(context.clock.now());
  const tracked = manager
    ? await work.run(updateInPieces(owners, { before: current, after: candidate, shape }, manager, time))
    : owners;
  await work.giveWay();
  putOwners(candidate, writeOwners(tracked));
}

/** An empty list of owners is left out, as Go leaves it out. */
export function putOwners({ metadata }: UnstructuredObject, owners: ManagedFieldsEntry[] | undefined): void {
  if (owners && owners.length > 0) metadata.managedFields = owners;
  else delete metadata.managedFields;
}

function isEmptyEntry(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && Object.keys(entry).length === 0;
}
