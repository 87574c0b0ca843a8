import type { CustomResourceDefinition } from '@rollkeeper/machinery/types/apiextensions-v1';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';

type Definition = DecodedObject<CustomResourceDefinition>;

/** The groups with a dot that the server itself answers for: of its kinds, its reviews, and the metrics of pods and nodes. */
export const SERVED_GROUPS: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'metrics.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
]);

/**
 * Go's packages of built-in types, backwards. The schema of a kind is named in OpenAPI by its group backwards: kinds of
 * these groups would take the names of built-in types.
 */
const TYPE_PACKAGES = [
  'api.k8s.io',
  'apiextensions-apiserver.k8s.io',
  'apimachinery.k8s.io',
  'kube-aggregator.k8s.io',
  'kubernetes.k8s.io',
];

/**
 * Why definitions may not have a group. The built-in kinds are all that their groups ever serve, in any version: an object
 * of a definition never lies among built-in ones in the store, nor is one of theirs read as if it were of a definition.
 * @returns undefined for a group that is free
 */
export function reservationOf(group: string): string | undefined {
  // Built-in groups without a dot, and what the server keeps for itself, are permanently out of reach.
  if (!group.includes('.')) return `the group "${group}" is not a domain with at least one dot`;
  if (SERVED_GROUPS.has(group))
    return `the group "${group}" is served by the API server itself, and no definition adds to it`;
  const types = TYPE_PACKAGES.find((suffix) => group === suffix || group.endsWith(`.${suffix}`));
  return types && `the names of types below "${types}" are those of built-in types in OpenAPI`;
}

/**
 * Why a definition may not be served, regardless of its status: it may come from a release without this check, or from
 * a backup.
 * @returns undefined for one that may be served
 */
export function refusalOf(definition: Readonly<Definition>): string | undefined {
  const reserved = reservationOf(definition.spec?.group ?? '');
  if (reserved !== undefined) return reserved;
  return storedResourceOf(definition) === undefined ? 'its name is not that of its resource' : undefined;
}

/**
 * The place of a definition's objects in the store, if it is one that can have any: under its own name, which no other
 * definition has.
 */
export function storedResourceOf({ metadata, spec }: Readonly<Definition>): string | undefined {
  const { group = '', names } = spec ?? {};
  const plural = names?.plural ?? '';
  const isQualified = plural !== '' && !plural.includes('.') && group.includes('.');
  return isQualified && metadata.name === `${plural}.${group}` ? metadata.name : undefined;
}
