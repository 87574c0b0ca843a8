import type { FieldSet } from './field-set.js';
import { EMPTY_SET, isEmptySet, unionAll } from './field-set.js';
import { fromFieldsV1, toFieldsV1 } from './fields-v1.js';
import type { FieldsV1 } from './fields-v1.js';

type ManagerOperation = 'Apply' | 'Update';

/** One entry of `metadata.managedFields`, as clients see it. */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: ManagerOperation;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: FieldsV1;
  readonly subresource?: string;
}

/** An owner of fields. Two are the same if name, operation, subresource and, for updaters, version agree. */
export interface Manager {
  readonly name: string;
  readonly operation: ManagerOperation;
  readonly apiVersion: string;
  /** Empty: the object itself. */
  readonly subresource: string;
}

export interface Ownership {
  readonly manager: Manager;
  readonly fields: FieldSet;
  /** When its set of fields last changed, RFC 3339. */
  readonly time?: string;
}

/** All owners of one object's fields. */
export type Owners = ReadonlyMap<string, Ownership>;

/** Limit of distinct updaters; the oldest ones are merged. As in a genuine server. */
const MAX_UPDATERS = 10;
const OLD_UPDATERS = 'ancient-changes';

export function managerKey({ name, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify([operation, name, subresource, operation === 'Update' ? apiVersion : '']);
}

/** @returns undefined when `entries` are no valid `managedFields` */
export function readOwners(entries: readonly unknown[]): Owners | undefined {
  const owners = new Map<string, Ownership>();
  for (const raw of entries) {
    const { manager, operation, apiVersion, time, fieldsType, fieldsV1, subresource } = (raw ??
      {}) as ManagedFieldsEntry;
    const fields = fromFieldsV1(fieldsV1);
    if (!fields || fieldsType !== 'FieldsV1' || (operation !== 'Apply' && operation !== 'Update')) {
      return undefined;
    }
    const read: Manager = {
      name: manager ?? '',
      operation,
      apiVersion: apiVersion ?? '',
      subresource: subresource ?? '',
    };
    owners.set(managerKey(read), { manager: read, fields, ...(time && { time }) });
  }
  return owners;
}

/** In the order of a genuine server: managers that apply first, then by time, then by name. */
export function writeOwners(owners: Owners): ManagedFieldsEntry[] {
  return [...capped(owners).values()].sort(byServerOrder).map(({ manager, fields, time }) => ({
    manager: manager.name,
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    ...(time && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(fields),
    ...(manager.subresource && { subresource: manager.subresource }),
  }));
}

/** The owners with one of them owning `fields` from `time` on; an owner of nothing goes. */
export function withOwner(
  owners: Owners,
  manager: Manager,
  fields: FieldSet,
  time: string | undefined,
): Owners {
  const changed = new Map(owners);
  if (isEmptySet(fields)) changed.delete(managerKey(manager));
  else changed.set(managerKey(manager), { manager, fields, ...(time && { time }) });
  return changed;
}

export function ownedFields(owners: Owners, manager: Manager): FieldSet {
  return owners.get(managerKey(manager))?.fields ?? EMPTY_SET;
}

/** The fields with any owner. */
export function allOwned(owners: Owners): FieldSet {
  return unionAll([...owners.values()].map(({ fields }) => fields));
}

function capped(owners: Owners): Owners {
  const updaters = [...owners.values()].filter(({ manager }) => manager.operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return owners;
  const kept = new Map(owners);
  const oldest = updaters.sort(byServerOrder).slice(0, -MAX_UPDATERS + 1);
  for (const { manager } of oldest) kept.delete(managerKey(manager));
  for (const together of Map.groupBy(oldest, ({ manager }) => manager.apiVersion).values()) {
    const { manager, time } = together.at(-1)!;
    const old: Manager = { ...manager, name: OLD_UPDATERS, subresource: '' };
    const fields = unionAll([ownedFields(kept, old), ...together.map((one) => one.fields)]);
    kept.set(managerKey(old), { manager: old, fields, ...(time && { time }) });
  }
  return kept;
}

function byServerOrder(a: Ownership, b: Ownership): number {
  return (
    compareText(a.manager.operation, b.manager.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.manager.name, b.manager.name) ||
    compareText(a.manager.apiVersion, b.manager.apiVersion) ||
    compareText(a.manager.subresource, b.manager.subresource)
  );
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
