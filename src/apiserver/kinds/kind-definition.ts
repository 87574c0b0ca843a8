import type { WebhookClientConfig } from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { RandomSource } from '@rollkeeper/machinery/clock';
import type {
  Int64,
  KubernetesObject,
  ResourceType,
  UnstructuredObject,
} from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../schema/errors/index.js';

export type { FieldError, FieldErrorType } from '../schema/errors/index.js';

/** A column of `kubectl get`; priority 0 is always shown, 1 with `-o wide`. */
export interface TableColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: string;
  /** @default what a genuine server says of it */
  readonly description?: string;
  readonly priority: number;
}

/** A cell; `null` shows as `<none>` in kubectl. */
export type TableCell = string | Int64 | boolean | null;

/** The part of an object that an update changes; `''` is the object itself. */
export type Subresource = '' | 'status' | 'finalize' | 'approval' | 'ephemeralcontainers' | 'resize';

/** The facts of a kind that a deletion needs. */
interface GracefulDeletion {
  /** 0 removes at once. */
  readonly gracePeriodSeconds: Int64;
}

/**
 * All that the API server knows of one kind. Handlers are the same for all kinds; differences between kinds are only
 * here. All functions are pure, except that those named `applyX` and `prepareX` change the object they are given (never
 * `old`).
 */
export interface KindDefinition {
  readonly type: ResourceType;
  readonly singular: string;
  /** The kind of a list of its objects. */
  readonly listKind: string;
  readonly shortNames: readonly string[];
  /** For example `all`. */
  readonly categories: readonly string[];
  /** `status`, `scale`, `binding`, `eviction`, `finalize`: those that exist for the kind. */
  readonly subresources: readonly string[];
  /** Name of its schema in the schema registry: `io.k8s.api.apps.v1.Deployment`. */
  readonly schema: string;
  readonly columns: readonly TableColumn[];

  /** Fills what the user left out, as the genuine API does. Idempotent. */
  applyDefaults(object: UnstructuredObject): void;
  /**
   * Before a creation is validated: clears what users may not set (status), sets generation.
   * @param nowMs wall clock, for what says when it was written
   */
  prepareForCreate(object: UnstructuredObject, nowMs?: number): void;
  /**
   * Before an update is validated: carries over what this subresource may not change, raises generation when the spec
   * changed. @param nowMs wall clock, for what says when it was written
   */
  prepareForUpdate(
    object: UnstructuredObject,
    old: Readonly<UnstructuredObject>,
    subresource: Subresource,
    nowMs?: number,
  ): void;
  validateCreate(object: Readonly<UnstructuredObject>): FieldError[];
  /** @param nowMs wall clock, for what has to be of the present */
  validateUpdate(
    object: Readonly<UnstructuredObject>,
    old: Readonly<UnstructuredObject>,
    subresource: Subresource,
    nowMs?: number,
  ): FieldError[];
  /** Warnings for the author of a valid object; `old` is absent at creation. @default none */
  warnings?(object: Readonly<UnstructuredObject>, old?: Readonly<UnstructuredObject>): string[];
  /** Grace of a deletion; kinds without grace answer 0. `requested` is the caller's `gracePeriodSeconds`. */
  gracefulDeletion(object: Readonly<UnstructuredObject>, requested: Int64 | undefined): GracefulDeletion;
  /** Changes an object that a deletion marks for the first time, beyond the mark. */
  prepareForDelete?(object: UnstructuredObject, nowMs: number): void;
  /** Why an object that is what its type says cannot be converted to the version in which a genuine server handles it. */
  conversionProblem?(object: Readonly<UnstructuredObject>): string | undefined;
  /** The annotations that the conversion of an empty object writes, as in a bookmark of a watch. @default none */
  readonly annotationsOfEmpty?: Readonly<Record<string, string>>;
  /** Why objects of the kind may not be created for now; those that are there can be read and deleted. */
  readonly refusesCreation?: string;
  /** The name of an invalid object in the refusal. @default its group and kind */
  readonly refusedAs?: { readonly group: string; readonly kind: string };
  /** Strategic merges go by what types say of their lists; kinds that users define have no such types. @default true */
  readonly hasStrategicMerge?: boolean;
  /** The warning that every answer about the kind carries. @default none */
  readonly deprecation?: string;
  /** A deletion that removes an object answers with it, in place of a Status. @default false */
  readonly answersDeleted?: boolean;
  /** A deletion that does not say what becomes of dependents leaves them alone, and warns of that. @default they go as well */
  readonly orphansByDefault?: { readonly warning?: string };
  /** A `PUT` to an object that is not there creates it. */
  readonly createsOnUpdate: boolean;
  /** A `PUT` has to name the version that it replaces. */
  readonly needsVersionOnUpdate: boolean;
  /** Values that `fieldSelector` may ask for, `metadata.name` and `metadata.namespace` included. */
  selectableFields(object: Readonly<UnstructuredObject>): Readonly<Record<string, string>>;
  /** The complaint about a field that `fieldSelector` may not ask for. */
  unknownField(field: string): string;
  /** A genuine server keeps no cache of its objects, and answers a wrong `resourceVersion` otherwise. @default false */
  readonly isListedFromStore?: boolean;
  /** One cell a column. @param nowMs wall clock, for ages */
  toRow(object: Readonly<UnstructuredObject>, nowMs: number): TableCell[];
  /** The `autoscaling/v1` Scale view, for kinds with that subresource. */
  readonly scale?: ScaleMapping;
  /** For a version whose objects are stored in the form of another one of the same kind. */
  readonly view?: StoredView;
  /** The things that objects of the kind have for themselves alone: addresses, ports. */
  readonly reservations?: Reservations;
  /**
   * Whether the garbage collector handles objects of the kind. If not, a deletion sets none of its finalizers, even on
   * request: they would never be removed.
   */
  readonly garbageCollection: 'supported' | 'unsupported';
  /**
   * From when on the owners of fields are recorded: from creation for kinds that people write; from the first server-side
   * apply, if ever, for those that programs write by the thousand.
   */
  readonly ownershipFrom: 'creation' | 'first-apply';
}

/** The parts of a kind that lists and tables need. */
export type ShownKind = Pick<KindDefinition, 'type' | 'listKind' | 'columns' | 'toRow'> &
  Partial<Pick<KindDefinition, 'schema' | 'hasStrategicMerge'>>;

/** How a kind is stored in another version, or under another group, than the one in which it is shown. */
export interface StoredView {
  /** Qualified resource under which the objects are stored: `events`. */
  readonly resource: string;
  toStored(object: Readonly<UnstructuredObject>): UnstructuredObject;
  fromStored(object: Readonly<UnstructuredObject>): UnstructuredObject;
  /** The webhook that converts objects between versions; absent where the functions above do it. */
  readonly conversion?: WebhookConversion;
}

/** How a definition says that its objects are converted. */
export interface WebhookConversion {
  readonly client: WebhookClientConfig;
  /** Versions of ConversionReview that the webhook knows, the one that it likes best first. */
  readonly reviewVersions: readonly string[];
  /** The API version in which objects are stored from now on. */
  readonly stored: string;
  /** The name of the kind in messages. */
  readonly shown: string;
}

/** Something that one object has for itself, such as an address or a port: two may never get the same. */
export interface Reservation {
  /** Qualified resource under which the reservation is stored. */
  readonly resource: string;
  readonly name: string;
  /** The stored object. */
  readonly object: UnstructuredObject;
  /** The complaint, with its field, if another object has it. */
  readonly refusal: FieldError;
  /** The owner: a reservation that its owner does not know may be taken over. */
  readonly owner: { readonly namespace: string; readonly name: string };
}

/** How a kind gets what its objects need for themselves. */
export interface Reservations {
  /** The reservations that the object asks for, or has got. */
  wanted(object: Readonly<UnstructuredObject>): Reservation[];
  /**
   * Lets the object choose the resources that it needs and has not named. Called again, after `release` of the last
   * choice, if that is taken already.
   * @returns whether there was anything to choose
   */
  choose(object: UnstructuredObject, random: RandomSource): boolean;
}

/** How a kind shows itself as a Scale, and takes one back. */
export interface ScaleMapping {
  /** The fields that lead to the replica count. */
  readonly replicasPath: readonly string[];
  read(object: Readonly<UnstructuredObject>): {
    specReplicas: number;
    statusReplicas: number;
    selector: string;
  };
  write(object: UnstructuredObject, specReplicas: number): void;
}

/** The kinds that the server has. They come and go while it runs. */
export interface KindRegistry {
  readonly kinds: readonly KindDefinition[];
  /** Whether usages and other metrics are answered, as where metrics-server is installed. @default true */
  readonly hasMetrics?: boolean;
  /** By group, version and plural, as in a path. */
  find(group: string, version: string, resource: string): KindDefinition | undefined;
  findByKind(apiVersion: string, kind: string): KindDefinition | undefined;
  /** Whether objects of a built-in kind are stored under a qualified resource. */
  isBuiltIn(resource: string): boolean;
  /**
   * Adds a kind, or replaces the one of the same group, version and resource.
   * @throws RangeError for one whose objects would lie among those of a built-in kind
   */
  put(kind: KindDefinition): void;
  /** @throws RangeError for a built-in kind */
  remove(type: Pick<ResourceType, 'group' | 'version' | 'resource' | 'kind'>): void;
}

export type { KubernetesObject };

/** Nothing else distinguishes the two as surely: a genuine server knows no types of theirs that it could merge by. */
export function isDefinedByUsers({ hasStrategicMerge }: Pick<KindDefinition, 'hasStrategicMerge'>): boolean {
  return hasStrategicMerge === false;
}

/** The metadata that most kinds leave as they are when their status is updated. Source: ResetObjectMetaForStatus. */
export const ALL_BUT_STATUS = [
  'deletionTimestamp',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
] as const;
