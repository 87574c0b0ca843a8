import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { Admission } from '../../access/admission/index.js';
import type { WriteGuard, WriteJudge } from '../../access/authorization/write-checks.js';
import type { ServiceAccountTokens } from '../../access/auth/index.js';
import type { VersionConverter } from '../../kinds/conversion/index.js';
import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import type { Storage, StorageKey, UnreadableObjects } from '../../storage/index.js';
import type { SharedEvents } from './shared-events.js';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import { ViewedStorage } from '../../storage/index.js';

/** The parts that every verb needs. */
export interface RegistryContext {
  readonly storage: Storage;
  readonly kinds: KindRegistry;
  readonly schemas: SchemaRegistry;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly admission: Admission;
  readonly events: SharedEvents;
  /** Issues the tokens of service accounts. */
  readonly tokens: ServiceAccountTokens;
  /** The guard of one request. @default nothing is refused */
  readonly guard?: WriteGuard;
  /** The judge of one request. @default nothing is refused */
  readonly judge?: WriteJudge;
  /** Makes objects of one version of a kind out of those of another. @default only the name of the version differs */
  readonly converter?: VersionConverter;
  /**
   * Objects that cannot be understood are removed at once when they are deleted: nothing would take their finalizers
   * off. @default none
   */
  readonly unreadable?: Pick<UnreadableObjects, 'has' | 'hasAny' | 'add' | 'remove'>;
  /** @default what users define is stored, and not served */
  readonly definitions?: DefinitionObserver;
}

/** Keeps the kinds in step with their definitions. */
export interface DefinitionObserver {
  /** Resolves when what follows from a new state has been done as far as this process can. */
  settle(definition: KubernetesObject): Promise<void>;
  /** For a resource that is not known here: another server may have it from a definition already. */
  find(group: string, version: string, resource: string): Promise<KindDefinition | undefined>;
}

/** One object's address together with its kind. */
export interface ObjectTarget {
  readonly kind: KindDefinition;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

/** Others may have kinds of that name as well. */
export function isNamespace({ type }: KindDefinition): boolean {
  return type.kind === 'Namespace' && type.group === '';
}

export function storageKeyOf(target: ObjectTarget): StorageKey {
  return {
    resource: qualifiedResource(target.kind.type),
    namespace: target.namespace,
    name: target.name,
  };
}

const viewed = new WeakMap<RegistryContext, WeakMap<KindDefinition, RegistryContext>>();

/**
 * The context of the verbs of a kind. For a kind whose objects are stored in another form, its storage shows them in
 * the form of the kind.
 */
export function contextOf(context: RegistryContext, kind: KindDefinition): RegistryContext {
  if (!kind.view) return context;
  const known = viewed.get(context) ?? new WeakMap<KindDefinition, RegistryContext>();
  viewed.set(context, known);
  const existing = known.get(kind);
  if (existing) return existing;
  const view = context.converter?.viewOf(kind) ?? kind.view;
  const own = { ...context, storage: new ViewedStorage(context.storage, view, context.unreadable) };
  known.set(kind, own);
  return own;
}

/** Times out of a race that others keep winning. */
export const MAX_UPDATE_ATTEMPTS = 25;
