import { toRfc3339, uuidOf } from '@rollkeeper/machinery/clock';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { badRequest, conflict, unexpected } from '../../schema/errors/index.js';
import { isDefinedByUsers } from '../../kinds/index.js';
import type { KindDefinition } from '../../kinds/index.js';
import type { ObjectTarget } from './registry-context.js';

type Home = Omit<ObjectTarget, 'name'>;

/** Removes the fields that only the server sets: none of them comes from a client, nor from a webhook. */
export function wipeSystemFields({ metadata }: UnstructuredObject): void {
  for (const field of [
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ] as const)
    delete metadata[field];
  Reflect.deleteProperty(metadata, 'selfLink');
}

/**
 * Verifies the identity of a new object after the last step that could have changed it: a webhook must not move it to
 * another namespace, or give it another object's UID. Source: Create in registry/generic/registry/store.go and
 * BeforeCreate in registry/rest/create.go of apiserver.
 * @throws StatusError 400
 */
export function identifyNew(
  target: Home,
  object: UnstructuredObject,
  {
    clock,
    dryRun,
    random,
  }: { readonly clock: Clock; readonly dryRun: boolean; readonly random: RandomSource },
): void {
  refuseVersion(object, { dryRun });
  wipeSystemFields(object);
  const { metadata } = object;
  metadata.uid = uuidOf(random);
  metadata.creationTimestamp = toRfc3339(clock.now());
  ensureNamespace(target, object);
  ensureType(target, object);
}

/** @throws StatusError 500, as the genuine server: what does not exist has no version */
export function refuseVersion(
  { metadata }: UnstructuredObject,
  { dryRun }: { readonly dryRun: boolean },
): void {
  if (metadata.resourceVersion && !dryRun)
    throw unexpected('resourceVersion should not be set on objects to be created');
  delete metadata.resourceVersion;
}

/**
 * The same for a new state, which has the current resourceVersion afterwards; that its name and UID are those of the current
 * state is a matter of its validation. Source: BeforeUpdate in registry/rest/update.go.
 * @throws StatusError 400, 409
 */
export function identifyUpdated(
  target: ObjectTarget,
  candidate: UnstructuredObject,
  { metadata: old }: Readonly<UnstructuredObject>,
): void {
  const { metadata } = candidate;
  const { resourceVersion } = metadata;
  if (resourceVersion && resourceVersion !== old.resourceVersion)
    throw conflict(target.kind.type, target.name);
  metadata.resourceVersion = old.resourceVersion;
  if (old.generateName !== undefined) metadata.generateName = old.generateName;
  Reflect.deleteProperty(metadata, 'selfLink');
  ensureNamespace(target, candidate);
  ensureType(target, candidate);
}

/** Source: EnsureObjectNamespaceMatchesRequestNamespace in registry/rest/meta.go. */
function ensureNamespace({ namespace }: Home, { metadata }: UnstructuredObject): void {
  if (namespace === '') delete metadata.namespace;
  else if (!metadata.namespace) metadata.namespace = namespace;
  else if (metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

function ensureType({ kind: { type } }: Home, object: UnstructuredObject): void {
  object.apiVersion = apiVersionOf(type);
  object.kind = type.kind;
}

/**
 * A dry run is answered as if the object had been stored and read: with the defaults of what the write itself may not
 * set.
 */
export function asRead(kind: KindDefinition, object: UnstructuredObject): UnstructuredObject {
  if (isDefinedByUsers(kind)) kind.applyDefaults(object);
  return object;
}
