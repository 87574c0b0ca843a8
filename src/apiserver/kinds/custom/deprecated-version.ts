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
  const best = newestOf(versions);
  const newest = best !== undefined && compareVersions(best, name) < 0 ? best : undefined;
  const old = `${group}/${name} ${names.kind} is deprecated`;
  return newest === undefined ? old : `${old}; use ${group}/${newest} ${names.kind}`;
}

type Versions = readonly Readonly<CustomResourceDefinitionVersion>[];

const known = new WeakMap<Versions, { readonly newest: string | undefined }>();

/** Looked for once, and not for each of the versions. */
function newestOf(versions: Versions): string | undefined {
  let found = known.get(versions);
  if (!found) {
    const names = versions.filter((one) => one.served && !one.deprecated).map(({ name }) => name);
    known.set(versions, (found = { newest: names.sort(compareVersions)[0] }));
  }
  return found.newest;
}
