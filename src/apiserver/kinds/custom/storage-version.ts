import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '@rollkeeper/machinery/types/apiextensions-v1';

type Version = Readonly<CustomResourceDefinitionVersion>;

const known = new WeakMap<object, { readonly version: Version | undefined }>();

/** The version in which the objects of a definition are stored. It is looked for once, and not for each of the versions. */
export function storageVersionOf({ versions }: Readonly<CustomResourceDefinitionSpec>): Version | undefined {
  let found = known.get(versions);
  if (!found) known.set(versions, (found = { version: versions.find(({ storage }) => storage) }));
  return found.version;
}
