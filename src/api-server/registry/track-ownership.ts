import { toRfc3339 } from '../../base/clock/index.js';
import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import { ownersAfterUpdate, readOwners, shapeOfType, writeOwners } from '../managed-fields/index.js';
import type { Manager, Owners } from '../managed-fields/index.js';
import type { ObjectTarget, RegistryContext } from './registry-context.js';

const NOBODY: Owners = new Map();

/** Writes down that `manager` owns all of a new object, for kinds whose ownership is kept from creation. */
export function trackCreate(
  context: RegistryContext,
  { kind }: Pick<ObjectTarget, 'kind'>,
  object: UnstructuredObject,
  manager: Manager | undefined,
): void {
  delete object.metadata.managedFields;
  if (!manager || kind.ownershipFrom !== 'creation') return;
  const shape = shapeOfType(context.schemas, kind.schema);
  const time = toRfc3339(context.clock.now());
  object.metadata.managedFields = writeOwners(
    ownersAfterUpdate(NOBODY, { before: {}, after: object, shape }, manager, time),
  );
}

/**
 * Writes down that `manager` owns what differs between `current` and `candidate`. Objects of which nobody has kept
 * book stay so until somebody applies to them (ADR 0007), and that is also how bookkeeping is given up: by writing one
 * empty entry.
 */
export function trackUpdate(
  context: RegistryContext,
  { kind }: Pick<ObjectTarget, 'kind'>,
  candidate: UnstructuredObject,
  current: Readonly<UnstructuredObject>,
  manager: Manager | undefined,
): void {
  const submitted = candidate.metadata.managedFields ?? [];
  if (submitted.length === 1 && isEmptyEntry(submitted[0])) {
    delete candidate.metadata.managedFields;
    return;
  }
  const kept = current.metadata.managedFields ?? [];
  // A client that knows nothing of ownership, or muddles it, takes nobody's away.
  const owners = (submitted.length > 0 && readOwners(submitted)) || readOwners(kept) || NOBODY;
  if (owners.size === 0) {
    delete candidate.metadata.managedFields;
    return;
  }
  const shape = shapeOfType(context.schemas, kind.schema);
  const time = toRfc3339(context.clock.now());
  const tracked = manager
    ? ownersAfterUpdate(owners, { before: current, after: candidate, shape }, manager, time)
    : owners;
  candidate.metadata.managedFields = writeOwners(tracked);
}

function isEmptyEntry(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && Object.keys(entry).length === 0;
}
