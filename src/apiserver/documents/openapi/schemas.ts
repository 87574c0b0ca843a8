import { ANSWERED_TYPES } from '../discovery/index.js';
import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { SchemaRegistry } from '../../schema/index.js';
import { inVersion, readDefinitionFacts, withFacts } from './definition-facts.js';
import { toOpenApiSchema } from './to-openapi-schema.js';
import type { OpenApiSchema, OpenApiVersion } from './openapi-schema.js';

const PACKAGE = 'io.k8s.metrics.pkg.apis.metrics.v1beta1';
const MACHINERY = '#/definitions/io.k8s.apimachinery.pkg';

const IDENTITY: Readonly<Record<string, OpenApiSchema>> = {
  apiVersion: { type: 'string', description: 'The group and version in whose form the object is.' },
  kind: { type: 'string', description: 'The type of the object, in CamelCase.' },
  metadata: {
    $ref: `${MACHINERY}.apis.meta.v1.ObjectMeta`,
    description: 'What every object has: its name, labels, annotations, owners.',
  },
  timestamp: {
    $ref: `${MACHINERY}.apis.meta.v1.Time`,
    description:
      'With window the time interval in which the metrics were collected, [Timestamp-Window, Timestamp].',
  },
  window: { type: 'string', description: 'The time over which the usage was averaged, as a duration of Go.' },
};

const USAGE: OpenApiSchema = {
  type: 'object',
  description: 'What is used of each resource: cpu and memory.',
  additionalProperties: { $ref: `${MACHINERY}.api.resource.Quantity` },
};

/** The definitions of `metrics.k8s.io`, whose types no package has. In the form of version 2. */
const METRICS_DEFINITIONS: Readonly<Record<string, OpenApiSchema>> = {
  [`${PACKAGE}.NodeMetrics`]: {
    type: 'object',
    description: 'NodeMetrics sets resource usage metrics of a node.',
    required: ['timestamp', 'window', 'usage'],
    properties: { ...IDENTITY, usage: USAGE },
  },
  [`${PACKAGE}.PodMetrics`]: {
    type: 'object',
    description: 'PodMetrics sets resource usage metrics of a pod.',
    required: ['timestamp', 'window', 'containers'],
    properties: {
      ...IDENTITY,
      containers: {
        type: 'array',
        description: 'Metrics for all containers are collected within the same time window.',
        items: { $ref: `#/definitions/${PACKAGE}.ContainerMetrics` },
      },
    },
  },
  [`${PACKAGE}.ContainerMetrics`]: {
    type: 'object',
    description: 'ContainerMetrics sets resource usage metrics of a container.',
    required: ['name', 'usage'],
    properties: {
      name: {
        type: 'string',
        description: 'Container name corresponding to the one from pod.spec.containers.',
      },
      usage: USAGE,
    },
  },
};

/** The schemas of a document. */
export interface OpenApiSchemas {
  /** Makes the schema of a name, each when it is asked for; undefined when there is none. */
  get(name: string): OpenApiSchema | undefined;
  /** The names of the types that the server has of itself. */
  readonly names: ReadonlySet<string>;
}

interface Listed {
  readonly type: Pick<ResourceType, 'group' | 'version' | 'kind'>;
  readonly listKind: string;
  readonly schema: string;
}

/** The schemas of the registry and the lists of all kinds, by name, each kind's with its group, version and kind. */
export function openApiSchemas(
  kinds: KindRegistry,
  schemas: SchemaRegistry,
  version: OpenApiVersion,
): OpenApiSchemas {
  const answered = ANSWERED_TYPES.map((type) => ({
    type,
    listKind: `${type.kind}List`,
    schema: type.schema,
    isListed: type.verbs.includes('list'),
  }));
  const all: readonly Listed[] = [...answered, ...kinds.kinds];
  const described = new Map(all.map((one) => [one.schema, one]));
  // If two kinds have one schema, its list is the first one's.
  const lists = [...answered.filter(({ isListed }) => isListed), ...kinds.kinds].reverse();
  const listed = new Map(lists.map((one): [string, Listed] => [`${one.schema}List`, one]));
  const { only, over } = readDefinitionFacts();
  const make = (name: string): OpenApiSchema | undefined => {
    const schema = schemas.get(name);
    if (schema) return toOpenApiSchema(schema, version, schemas.describe(name));
    const list = listed.get(name);
    if (list) return listSchema(list, version);
    const other = only[name] ?? METRICS_DEFINITIONS[name];
    return other && inVersion(other, version);
  };
  return {
    get(name) {
      const schema = make(name);
      if (!schema) return undefined;
      const made = describeTypeMeta(schema);
      const type = described.get(name)?.type;
      return withFacts(type ? { ...made, ...identity(type, type.kind) } : made, over[name], version);
    },
    get names() {
      const foreign = new Set(
        kinds.kinds.filter((kind) => isUserDefined(kind, schemas)).map((one) => one.schema),
      );
      return new Set([
        ...schemas.names.filter((name) => !foreign.has(name)),
        ...[...listed].filter(([, { schema }]) => !foreign.has(schema)).map(([name]) => name),
        ...Object.keys(only),
        ...Object.keys(METRICS_DEFINITIONS),
      ]);
    },
  };
}

/** Whether a definition of a user's has made the kind: it comes and goes, and brings its own schema. */
export function isUserDefined({ schema }: KindDefinition, schemas: SchemaRegistry): boolean {
  return schemas.get(schema)?.structural !== undefined;
}

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';
/** Kubernetes says the same of all types. */
const API_VERSION =
  'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas ' +
  `to the latest internal value, and may reject unrecognized values. More info: ${CONVENTIONS}#resources`;
const KIND =
  'Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint ' +
  `the client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`;

/** A schema that has apiVersion and kind without words of its own about them is a type, and not a reference to one. */
function describeTypeMeta(schema: OpenApiSchema): OpenApiSchema {
  const { apiVersion, kind } = schema.properties ?? {};
  if (!apiVersion || !kind || apiVersion.description !== undefined || kind.description !== undefined)
    return schema;
  const properties = {
    ...schema.properties,
    apiVersion: { description: API_VERSION, ...apiVersion },
    kind: { description: KIND, ...kind },
  };
  return { ...schema, properties };
}

function identity({ group, version }: Listed['type'], kind: string): OpenApiSchema {
  return { 'x-kubernetes-group-version-kind': [{ group, version, kind }] };
}

function listSchema({ listKind, schema, type }: Listed, version: OpenApiVersion): OpenApiSchema {
  const prefix = version === 2 ? '#/definitions/' : '#/components/schemas/';
  return {
    type: 'object',
    description: `${type.kind}List is a list of ${type.kind}.`,
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { $ref: `${prefix}io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta` },
      items: { type: 'array', items: { $ref: `${prefix}${schema}` } },
    },
    ...identity(type, listKind),
  };
}
