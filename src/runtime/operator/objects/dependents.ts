import { createHash } from 'node:crypto';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject, ObjectRef, Kind } from '@rollkeeper/machinery/kubernetes';
import {
  isJsonObject,
  keyOf,
  qualifiedResource,
  sameJson,
  stringifyJson,
} from '@rollkeeper/machinery/kubernetes';
import { unlessGone } from '@rollkeeper/client/api-client';
import type { ReconcileContext } from '../define/controller-spec.js';
import type { ApplyObject } from './write-objects.js';
import { serverSideApply } from './write-objects.js';

/** A desired object, with the fields that its owner decides. */
export interface Dependent {
  readonly kind: Kind;
  readonly object: ApplyObject<KubernetesObject>;
}

/** One of the objects for {@link applyDependents}. In the owner's namespace, unless it says another. */
export function dependent<T extends KubernetesObject>(kind: Kind<T>, object: ApplyObject<T>): Dependent {
  return { kind, object };
}

/** The options of {@link applyDependents}. */
export interface DependentsOptions {
  /** See `serverSideApply`; must never change. */
  readonly fieldManager: string;
  /** Kinds of which nothing may be desired any more, for example because an option was switched off. @default none */
  readonly kinds?: readonly Kind[];
}

/** The writes that were made, each as `configmaps default/web`. */
export interface DependentsOutcome {
  readonly applied: readonly string[];
  readonly pruned: readonly string[];
}

/** `<field manager> <digest of what was applied>` */
const APPLIED = 'rollkeeper.dev/applied';

/**
 * Brings everything that an object consists of to its desired state: applies, in this order, what is missing or differs, with the object
 * as its controller; then deletes what an earlier call applied and is not desired any more. Writes nothing where all is well, judged
 * by the caches, so all kinds have to be in `owns`. Does nothing for an object that is deleted in the foreground: what it consists of goes
 * first, and must not come back.
 * @throws InvalidOptionError for two of one name
 */
export async function applyDependents(
  { client, owned }: Pick<ReconcileContext, 'client' | 'owned'>,
  owner: DeepReadonly<KubernetesObject>,
  desired: readonly Dependent[],
  { fieldManager, kinds = [] }: DependentsOptions,
): Promise<DependentsOutcome> {
  if (isDeletedInForeground(owner)) return { applied: [], pruned: [] };
  const wanted = desired.map((each) => prepared(each, owner, fieldManager));
  const names = wanted.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new InvalidOptionError('dependents', `${twice} is desired twice`);
  const present = presentOf(owned, [...wanted.map(({ kind }) => kind), ...kinds]);
  const applied: string[] = [];
  for (const { kind, name, object } of wanted) {
    const found = present.get(name)?.object;
    if (found && isAsApplied(found, object)) continue;
    await serverSideApply(client, kind, object, { fieldManager, owner });
    applied.push(name);
  }
  const pruned: string[] = [];
  for (const [name, { kind, object }] of [...present].reverse()) {
    if (names.includes(name) || !isOurs(object, fieldManager) || object.metadata.deletionTimestamp) continue;
    const { uid } = object.metadata;
    await unlessGone(client.delete(kind, refOf(object), { preconditions: { uid } }));
    pruned.push(name);
  }
  return { applied, pruned };
}

/** The garbage collector deletes the dependents, and ends the deletion once there are none. */
function isDeletedInForeground({ metadata }: DeepReadonly<KubernetesObject>): boolean {
  return (
    metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes('foregroundDeletion')
  );
}

interface Prepared extends Dependent {
  readonly name: string;
}

/** With its namespace, and a digest by which a field that is desired no more is noticed. */
function prepared(
  { kind, object }: Dependent,
  owner: DeepReadonly<KubernetesObject>,
  manager: string,
): Prepared {
  const { namespace = kind.namespaced ? owner.metadata.namespace : undefined } = object.metadata;
  const { annotations } = object.metadata;
  const digest = createHash('sha256').update(stringifyJson(object)).digest('hex').slice(0, 32);
  const metadata = {
    ...object.metadata,
    ...(namespace !== undefined && { namespace }),
    annotations: { ...annotations, [APPLIED]: `${manager} ${digest}` },
  };
  const whole: ApplyObject<KubernetesObject> = { ...object, metadata };
  return { kind, object: whole, name: nameOf(kind, metadata) };
}

function presentOf(owned: ReconcileContext['owned'], kinds: readonly Kind[]) {
  const present = new Map<string, { readonly kind: Kind; readonly object: DeepReadonly<KubernetesObject> }>();
  const distinct = new Map(kinds.map((kind) => [qualifiedResource(kind), kind]));
  for (const kind of distinct.values())
    for (const object of owned(kind)) present.set(nameOf(kind, object.metadata), { kind, object });
  return present;
}

/** Whether every applied field is as it was applied; the server and others have fields of their own. */
function isAsApplied(stored: unknown, applied: unknown): boolean {
  // The server stores no empty fields.
  if (stored === undefined && saysNothing(applied)) return true;
  if (!isJsonObject(applied)) return sameItems(stored, applied);
  if (!isJsonObject(stored)) return false;
  return Object.entries(applied).every(([field, value]) => isAsApplied(stored[field], value));
}

function saysNothing(applied: unknown): boolean {
  if (typeof applied !== 'object' || applied === null) return applied === undefined;
  return Object.values(applied).every(saysNothing);
}

function sameItems(stored: unknown, applied: unknown): boolean {
  if (!Array.isArray(applied)) return sameJson(stored, applied);
  if (!Array.isArray(stored) || stored.length !== applied.length) return false;
  return applied.every((item, index) => isAsApplied(stored[index], item));
}

function isOurs({ metadata }: DeepReadonly<KubernetesObject>, manager: string): boolean {
  return metadata.annotations?.[APPLIED]?.split(' ')[0] === manager;
}

function refOf({ metadata: { name, namespace } }: DeepReadonly<KubernetesObject>): ObjectRef {
  return { name, namespace };
}

function nameOf(kind: Kind, ref: ObjectRef): string {
  return `${qualifiedResource(kind)} ${keyOf(ref)}`;
}
