import type { CustomResourceDefinitionVersion } from '@rollkeeper/machinery/types/apiextensions-v1';
import { sameMeaning } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';

type Version = Decoded<CustomResourceDefinitionVersion>;
const FIELDS = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

/** The fields that versions may have in common. */
export type Shared = Partial<Pick<Version, (typeof FIELDS)[number]>>;

/**
 * Versions as Kubernetes has them inside: a field that is the same in all of them is kept once, outside of them.
 * Source: apiextensions-apiserver/pkg/apis/apiextensions/v1/conversion.go.
 */
export function hoisted(versions: readonly Version[]): {
  readonly versions: readonly Version[];
  readonly shared: Shared;
} {
  const [first] = versions;
  if (!first) return { versions, shared: {} };
  const same = FIELDS.filter((field) =>
    versions.every((version) => sameMeaning(version[field], first[field])),
  );
  const without = (version: Version): Version => ({
    ...version,
    ...Object.fromEntries(same.map((field) => [field, undefined])),
  });
  const shared: Shared = Object.fromEntries(same.map((field) => [field, first[field]]));
  return { versions: versions.map(without), shared };
}
