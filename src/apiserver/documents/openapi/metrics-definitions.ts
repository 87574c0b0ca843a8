import type { OpenApiSchema } from './openapi-schema.js';

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
export const METRICS_DEFINITIONS: Readonly<Record<string, OpenApiSchema>> = {
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
