import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { Kind, KubernetesObject, TypedResource } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { ObjectPart } from '@rollkeeper/client/informer';

/**
 * A part of each object of a kind, made by {@link partOf}: a controller that names it has a separate cache of these
 * parts.
 */
export interface PartialKind<T extends KubernetesObject = KubernetesObject> extends TypedResource<T> {
  readonly part: ObjectPart;
}

/** A kind of which a controller can have a cache. */
export type CachedKind<T extends KubernetesObject = KubernetesObject> = Kind<T> | PartialKind<T>;

/**
 * A part of each object of a kind, to save the memory of fields that are never read. Its cache is separate from that of
 * the kind itself. Never write a trimmed object back: patch.
 * @param name distinguishes it from other parts of the kind
 * @param keep may change and return the given object
 */
export function partOf<T extends KubernetesObject, Kept extends KubernetesObject>(
  kind: Kind<T>,
  name: string,
  keep: (object: T) => Kept,
): PartialKind<Kept> {
  const part = { name, keep: (object: KubernetesObject) => keep(object as T) };
  const { group, kind: word, namespaced, resource, version } = kind;
  return Object.freeze({ group, version, resource, kind: word, namespaced, part });
}

/** The objects of a kind: `ObjectOf<typeof Website>`. */
export type ObjectOf<K extends Kind> = K extends Kind<infer T> ? T : never;

/** The options of {@link defineKind}. */
export interface KindOptions {
  /** API group, `example.com`; empty for the core group. */
  readonly group: string;
  /** `v1`, `v1alpha1`. */
  readonly version: string;
  /** `Website`. */
  readonly kind: string;
  /** The plural in the path. @default the kind in lower case with an s, es or ies, as kubebuilder guesses it */
  readonly resource?: string;
  /** @default true */
  readonly namespaced?: boolean;
}

/**
 * Defines a custom kind, or one that is not among the built-in ones.
 * @example const Website = defineKind<Website>({ group: 'example.com', version: 'v1', kind: 'Website' });
 * @throws InvalidOptionError naming the field
 */
export function defineKind<T extends KubernetesObject>(options: KindOptions): Kind<T> {
  const { group, kind, namespaced = true, resource = pluralOf(kind), version } = options;
  const mustMatch = (field: keyof KindOptions, value: string, pattern: RegExp, what: string): void => {
    if (!pattern.test(value)) throw new InvalidOptionError(`kind.${field}`, `"${value}" is not ${what}`);
  };
  mustMatch('group', group, /^([a-z0-9-]+(\.[a-z0-9-]+)*)?$/, 'an API group, such as example.com');
  mustMatch('version', version, /^v\d+((alpha|beta)\d+)?$/, 'a version, such as v1 or v1beta1');
  mustMatch('kind', kind, /^[A-Z][A-Za-z0-9]*$/, 'an UpperCamelCase name');
  mustMatch('resource', resource, /^[a-z][a-z0-9-]*$/, 'a lower-case plural');
  return Object.freeze({ group, version, resource, kind, namespaced });
}

/** The start of a new object of a kind: `{ apiVersion, kind }`. */
export function typeMeta(kind: Kind): Pick<KubernetesObject, 'apiVersion' | 'kind'> {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind };
}

/** Like `meta.UnsafeGuessKindToResource` in apimachinery. */
function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/(s|x|ch|sh)$/.test(singular)) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
