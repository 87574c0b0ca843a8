import type { FuzzedServer } from '../fuzzed-server.js';

/** What the server serves, as it tells itself: kinds that come later are attacked without a line here. */
export interface FuzzedApi {
  readonly resources: readonly FuzzedResource[];
  /** Paths of the collections in which generated requests leave objects behind. */
  readonly collections: readonly string[];
  /** Kinds of which there is no object that a patch could change. */
  readonly withoutSample: readonly string[];
  /** Schemas of OpenAPI version 3 by their `$ref`. */
  readonly schemas: ReadonlyMap<string, OpenApiNode>;
  /** Puts one object of each kind there, again where it is gone. */
  putSamples(): Promise<void>;
}

export interface FuzzedResource {
  readonly apiVersion: string;
  readonly kind: string;
  /** Of the collection, in the namespace where it has one. */
  readonly path: string;
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  /** `#/components/schemas/…`; absent where OpenAPI does not tell. */
  readonly schema?: string;
  /** The sample, if the server took it. */
  readonly sample?: object;
}

/** A schema in an OpenAPI document, as far as it is read here. */
export interface OpenApiNode {
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiNode[];
  readonly oneOf?: readonly OpenApiNode[];
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, OpenApiNode>>;
  readonly items?: OpenApiNode;
  readonly additionalProperties?: OpenApiNode | boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

export async function readApi(_server: FuzzedServer): Promise<FuzzedApi> {
  return {
    resources: [],
    collections: [],
    withoutSample: [],
    schemas: new Map(),
    putSamples: async () => undefined,
  };
}
