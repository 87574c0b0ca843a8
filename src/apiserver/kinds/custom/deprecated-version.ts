import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '@rollkeeper/machinery/types/apiextensions-v1';
import { compareVersions } from '../common/version-order.js';

/**
 * The warning for clients of a deprecated version: the author's own, or one that names a newer version to use. Source:
 * defaultDeprecationWarning in apiextensions-apiserver.
 */
export function deprecationOf(
  { deprecationWarning, name }: Readonly<CustomResourceDefinitionVersion>,
  { group, names, versions }: Readonly<CustomResourceDefinitionSpec>,
): string {
  if (deprecationWarning !== undefined) return deprecationWarning;
  const newest = versions
    .filter((other) => other.served && !other.deprecated && compareVersions(other.name, name) < 0)
    .map((other) => other.name)
    .sort(compareVersions)[0];
  const old = `${group}/${name} ${names.kind} is deprecated`;
  return newest === undefined ? old : `${old}; use ${group}/${newest} ${names.kind}`;
}
