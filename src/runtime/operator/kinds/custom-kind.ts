import type * as z from 'zod';
import type { ZodType } from 'zod';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, Kind } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { KindOptions } from './kinds.js';
import { defineKind } from './kinds.js';
import type { StructuralSchema } from './structural-schema.js';
import { structuralSchema } from './structural-schema.js';

/** A rule in CEL, as in `x-kubernetes-validations`. */
export interface ValidationRule {
  /** `self.minReplicas <= self.replicas`; with `oldSelf` it is about changes. */
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?:
    'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  readonly fieldPath?: string;
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  /** `.spec.host` */
  readonly jsonPath: string;
  /** @default 'string' */
  readonly type?: 'integer' | 'number' | 'string' | 'boolean' | 'date';
  readonly description?: string;
  readonly format?: string;
  /** Greater than 0: with `-o wide` only. @default 0 */
  readonly priority?: number;
}

/** The properties of a kind in its definition, beside its schema. */
export interface CustomKindTraits {
  /** @default the object's age */
  readonly columns?: readonly PrinterColumn[];
  /** Makes it scalable: where its counts are. @default not scalable */
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
  readonly shortNames?: readonly string[];
  /** `all`, say: in `kubectl get all`. */
  readonly categories?: readonly string[];
  /** `false`: no requests in this version. @default true */
  readonly served?: boolean;
  /** Why this version should not be used, shown to clients that do. @default it may be */
  readonly deprecationWarning?: string;
  readonly description?: string;
}

/** The options of {@link defineCustomKind}. */
export interface CustomKindOptions<Spec extends ZodType, Status extends ZodType>
  extends KindOptions, CustomKindTraits {
  readonly spec: Spec;
  /** With it the kind has a status subresource. @default no status */
  readonly status?: Status;
  /** Rules for the whole object. Rules of a part are said there, by {@link withRules}. @default none */
  readonly rules?: readonly ValidationRule[];
}

/** The objects of a custom kind: as the server stores them, with defaults filled in. */
export interface CustomObject<Spec, Status> extends KubernetesObject {
  spec: Spec;
  status?: Status;
}

/** A kind with all that its CustomResourceDefinition says. */
export interface CustomKind<T extends KubernetesObject = KubernetesObject> extends Kind<T> {
  readonly [VERSION_OF_DEFINITION]: DefinitionVersion;
}

/**
 * The fields that one version adds to a CustomResourceDefinition. Found by tools that have another copy of this module.
 */
const VERSION_OF_DEFINITION: unique symbol = Symbol.for('rollkeeper:definition-version');

interface DefinitionVersion {
  readonly version: object;
  readonly names: object;
}

/** Whether a kind has a definition: made by {@link defineCustomKind} of any copy of this module. */
export function isCustomKind(value: unknown): value is CustomKind {
  return typeof value === 'object' && value !== null && VERSION_OF_DEFINITION in value;
}

type Objects<Spec extends ZodType, Status extends ZodType> = CustomObject<z.output<Spec>, z.output<Status>>;

/**
 * A kind of your own by its zod schemas: its type, and its CustomResourceDefinition by {@link definitionOf} or
 * `rollkeeper generate crd`.
 * @example
 * ```ts
 * export const Website = defineCustomKind({
 *   group: 'example.com', version: 'v1', kind: 'Website',
 *   spec: z.object({ host: z.string().min(1), port: z.int().min(1).max(65535).default(80) }),
 *   status: z.object({ ready: z.boolean().optional() }),
 * });
 * export type Website = ObjectOf<typeof Website>;
 * ```
 * @throws InvalidOptionError naming the field
 */
export function defineCustomKind<Spec extends ZodType, Status extends ZodType = ZodType<never>>(
  options: CustomKindOptions<Spec, Status>,
): CustomKind<Objects<Spec, Status>> {
  const kind = defineKind<Objects<Spec, Status>>(options);
  const { rules = [], spec, status } = options;
  return withDefinition(kind, {
    ...options,
    properties: {
      spec: structuralSchema(spec, 'spec'),
      ...(status && { status: structuralSchema(status, 'status') }),
    },
    required: ['spec'],
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
  });
}

/** The properties of one version in a definition. */
export interface DefinitionOptions extends CustomKindTraits {
  /**
   * The properties of the object, without those that every object has. With `status` the kind has a status subresource.
   */
  readonly properties: Readonly<Record<string, StructuralSchema>>;
  /** The names of those that are required. */
  readonly required: readonly string[];
  /** Rules about the whole object. @default none */
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
}

/** The kind with a definition of its version. @throws InvalidOptionError if it is of the core group */
export function withDefinition<T extends KubernetesObject>(
  kind: Kind<T>,
  options: DefinitionOptions,
): CustomKind<T> {
  if (kind.group === '') throw new InvalidOptionError('kind.group', 'must be a domain of yours');
  const { categories, columns = [AGE], deprecationWarning, scale, served = true, shortNames } = options;
  const hasStatus = options.properties['status'] !== undefined;
  const names = {
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    plural: kind.resource,
    singular: kind.kind.toLowerCase(),
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
  };
  const version = {
    name: kind.version,
    served,
    ...(deprecationWarning !== undefined && { deprecated: true, deprecationWarning }),
    schema: { openAPIV3Schema: schemaOf(options) },
    ...((hasStatus || scale) && {
      subresources: { ...(hasStatus && { status: {} }), ...(scale && { scale }) },
    }),
    additionalPrinterColumns: columns.map(({ type = 'string', ...column }) => ({ ...column, type })),
  };
  return Object.freeze({ ...kind, [VERSION_OF_DEFINITION]: { version, names } });
}

const AGE: PrinterColumn = { name: 'Age', jsonPath: '.metadata.creationTimestamp', type: 'date' };

/** The same schema with rules in CEL about its values. */
export function withRules<Schema extends ZodType>(
  schema: Schema,
  ...rules: readonly ValidationRule[]
): Schema {
  const found = schema.meta()?.['x-kubernetes-validations'];
  const before: readonly unknown[] = Array.isArray(found) ? found : [];
  return schema.meta({ ...schema.meta(), 'x-kubernetes-validations': [...before, ...rules] });
}

/**
 * The CustomResourceDefinition of a kind, to be applied as it is.
 * @param storage the version that is stored
 * @param others versions that are served beside it
 * @throws InvalidOptionError if they are not versions of one kind
 */
export function definitionOf(storage: CustomKind, ...others: readonly CustomKind[]) {
  const { group, kind, namespaced } = storage;
  const all = [storage, ...others];
  const stranger = all.find(
    (each) => each.group !== group || each.kind !== kind || each.namespaced !== namespaced,
  );
  if (stranger)
    throw new InvalidOptionError('kind', `${stranger.kind} of ${stranger.group} is no version of ${kind}`);
  if (new Set(all.map(({ version }) => version)).size < all.length)
    throw new InvalidOptionError('version', `${kind} has a version twice`);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: qualifiedResource(storage) },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: storage[VERSION_OF_DEFINITION].names,
      versions: all.map((each) => ({ ...each[VERSION_OF_DEFINITION].version, storage: each === storage })),
    },
  };
}

function schemaOf({
  description,
  properties,
  required,
  'x-kubernetes-validations': rules = [],
}: DefinitionOptions): StructuralSchema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    ...(required.length > 0 && { required }),
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...properties,
    },
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
  };
}
