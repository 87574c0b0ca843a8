/** A schema of an OpenAPI document, as JSON. */
export interface OpenApiSchema {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  properties?: Record<string, OpenApiSchema>;
  required?: readonly string[];
  items?: OpenApiSchema;
  additionalProperties?: OpenApiSchema;
  allOf?: OpenApiSchema[];
  oneOf?: OpenApiSchema[];
  default?: unknown;
  enum?: readonly string[];
  'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-map-type'?: string;
}

export type OpenApiVersion = 2 | 3;
