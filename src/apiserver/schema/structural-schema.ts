import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { JSONSchemaProps } from '@rollkeeper/machinery/types/apiextensions-v1';
import { ownField } from '@rollkeeper/machinery/kubernetes';

/**
 * A user's schema of a custom resource, `spec.versions[*].schema.openAPIV3Schema` of its definition: the type of every
 * field is given, and what is below `allOf`, `anyOf`, `oneOf` and `not` only judges.
 */
export type StructuralSchema = Omit<Decoded<JSONSchemaProps>, 'additionalProperties'> & {
  /** The models know no boolean here. */
  additionalProperties?: Decoded<JSONSchemaProps> | boolean;
};

/** The schema of a field, `anything` for one without restrictions, `unknown` for one that is not declared. */
type Pruned = StructuralSchema | 'anything' | 'unknown';

/** The fields that a whole resource has within another one, described or not. */
export function isResourceField(name: string): boolean {
  return name === 'apiVersion' || name === 'kind' || name === 'metadata';
}

/** How a field of an object is described. Source of the rules: `Prune` in apiextensions-apiserver/pkg/apiserver/schema/pruning. */
export function pruned(schema: StructuralSchema, field: string): Pruned {
  const property = ownField(schema.properties, field);
  if (property) return property;
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') return additionalProperties;
  if (additionalProperties === true || schema['x-kubernetes-preserve-unknown-fields']) return 'anything';
  return 'unknown';
}
