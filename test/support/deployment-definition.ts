import type { ObjectSchema, SchemaRegistry } from '../../src/apiserver/schema/index.js';
import { createSchemaRegistry } from '../../src/apiserver/schema/index.js';
import { RollkeeperDeployment, qualifiedResource } from '@rollkeeper/machinery/kubernetes';

type Schema = Record<string, unknown>;
type Fields = Record<string, Schema>;

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const POD_TEMPLATE = 'io.k8s.api.core.v1.PodTemplateSpec';

/** The allowed metadata of a pod template or claim template; a schema has to list it, or it is pruned. */
const EMBEDDED_META: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    generateName: { type: 'string' },
    namespace: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    finalizers: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    // kubectl writes manifests with `creationTimestamp: null`.
    creationTimestamp: { type: 'string', format: 'date-time', nullable: true },
  },
};

/** Merge keys of a list are required; where the genuine API defaults them or allows them to be empty, so do we. */
const KEY_DEFAULTS: Readonly<Record<string, string>> = { protocol: 'TCP', name: '' };

const FORMATS: Readonly<Record<string, Schema>> = {
  quantity: {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
    'x-kubernetes-int-or-string': true,
  },
  'int-or-string': {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
  },
};

/** Far more than any real selector; the cost of a rule is bounded by the longest possible list. */
const MOST_REQUIREMENTS = 100;
const LONGEST_LABEL = 63;
const LONGEST_KEY = 317;

const SELECTS_TEMPLATE = `!has(self.selector.matchLabels) || (has(self.template.metadata) && has(self.template.metadata.labels) && self.selector.matchLabels.all(key, key in self.template.metadata.labels && self.template.metadata.labels[key] == self.selector.matchLabels[key]))`;
const HAS_NO_LABEL =
  '!has(self.template.metadata) || !has(self.template.metadata.labels) || !(each.key in self.template.metadata.labels)';
const HAS_LABEL =
  'has(self.template.metadata) && has(self.template.metadata.labels) && each.key in self.template.metadata.labels';
const HAS_VALUE = `${HAS_LABEL} && has(each.values) && self.template.metadata.labels[each.key] in each.values`;
const MEETS_EXPRESSIONS = `!has(self.selector.matchExpressions) || self.selector.matchExpressions.all(each, each.operator == 'In' ? (${HAS_VALUE}) : each.operator == 'NotIn' ? !(${HAS_VALUE}) : each.operator == 'Exists' ? (${HAS_LABEL}) : (${HAS_NO_LABEL}))`;
const NO_MATCH = 'template.metadata.labels: `selector` does not match template `labels`';

/**
 * The CustomResourceDefinition `deployments.rollkeeper.dev`: the schema of Kubernetes' own Deployment with its
 * defaults, and rules for what the API server validates natively. Descriptions of the pod template are omitted: with
 * them it would be too large for `kubectl apply`.
 */
export function deploymentDefinition(): Schema {
  const { group, kind, resource, version } = RollkeeperDeployment;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: qualifiedResource(RollkeeperDeployment) },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural: resource,
        singular: 'deployment',
        shortNames: ['rkd'],
        categories: ['all'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: deploymentSchema(createSchemaRegistry()) },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: COLUMNS,
        },
      ],
    },
  };
}

const integer = (name: string, jsonPath: string, description: string): Schema => ({
  name,
  type: 'integer',
  jsonPath,
  description,
});
const wide = (name: string, jsonPath: string, description: string): Schema => ({
  name,
  type: 'string',
  priority: 1,
  jsonPath,
  description,
});

/** The columns of `kubectl get deployments`, as far as a path to one value can express them. */
const COLUMNS: readonly Schema[] = [
  integer('Desired', '.spec.replicas', 'Pods that are wanted.'),
  integer('Ready', '.status.readyReplicas', 'Pods that are ready.'),
  integer('Up-to-date', '.status.updatedReplicas', 'Pods of the current template.'),
  integer(
    'Available',
    '.status.availableReplicas',
    'Pods that have been ready for at least minReadySeconds.',
  ),
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  wide('Containers', '.spec.template.spec.containers[*].name', 'Names of the containers.'),
  wide('Images', '.spec.template.spec.containers[*].image', 'Images of the containers.'),
  wide('Selector', '.status.selector', 'Selects the pods.'),
];

function deploymentSchema(registry: SchemaRegistry): Schema {
  const schema = new SchemaWriter(registry).write({ type: 'ref', ref: 'io.k8s.api.apps.v1.Deployment' });
  const properties = schema['properties'] as Fields;
  properties['metadata'] = { type: 'object' };
  refineSpec(properties['spec'] as Schema);
  const status = propertiesOf(properties['status']);
  status['selector'] = {
    type: 'string',
    description: 'The label selector as text, for those who find the pods by the scale subresource.',
  };
  return { ...schema, required: ['spec'] };
}

/** Adds the defaults and the validation of apps/v1 beyond its schema. */
function refineSpec(spec: Schema): void {
  const fields = propertiesOf(spec);
  for (const name of ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'])
    Object.assign(fieldOf(fields, name), { minimum: 0 });
  fieldOf(fields, 'replicas')['default'] = 1;
  fieldOf(fields, 'revisionHistoryLimit')['default'] = 10;
  fieldOf(fields, 'progressDeadlineSeconds')['default'] = 600;
  refineStrategy(fieldOf(fields, 'strategy'));
  refineSelector(fieldOf(fields, 'selector'));
  const pod = propertiesOf(fieldOf(propertiesOf(fieldOf(fields, 'template')), 'spec'));
  Object.assign(fieldOf(pod, 'restartPolicy'), { enum: ['Always'] });
  const template = fieldOf(fields, 'template');
  template['required'] = ['spec'];
  spec['x-kubernetes-validations'] = [
    { rule: SELECTS_TEMPLATE, message: NO_MATCH },
    { rule: MEETS_EXPRESSIONS, message: NO_MATCH },
    {
      rule: '!has(self.minReadySeconds) || self.progressDeadlineSeconds > self.minReadySeconds',
      message: 'progressDeadlineSeconds: must be greater than minReadySeconds',
    },
  ];
}

function refineStrategy(strategy: Schema): void {
  const fields = propertiesOf(strategy);
  fieldOf(fields, 'type')['default'] = 'RollingUpdate';
  const rolling = fieldOf(fields, 'rollingUpdate');
  const limits = propertiesOf(rolling);
  for (const name of ['maxSurge', 'maxUnavailable'])
    Object.assign(fieldOf(limits, name), { default: '25%', pattern: '^[0-9]+%$', minimum: 0 });
  fieldOf(limits, 'maxUnavailable')['pattern'] = '^(100|[0-9]{1,2})%$';
  rolling['x-kubernetes-validations'] = [
    {
      rule: "!(string(self.maxUnavailable) in ['0', '0%'] && string(self.maxSurge) in ['0', '0%'])",
      message: 'maxUnavailable: may not be 0 when `maxSurge` is 0',
    },
  ];
  strategy['default'] = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } };
}

function refineSelector(selector: Schema): void {
  const fields = propertiesOf(selector);
  Object.assign(fieldOf(fields, 'matchLabels'), {
    maxProperties: MOST_REQUIREMENTS,
    additionalProperties: { type: 'string', maxLength: LONGEST_LABEL },
  });
  const expressions = fieldOf(fields, 'matchExpressions');
  expressions['maxItems'] = MOST_REQUIREMENTS;
  const requirement = propertiesOf(expressions['items'] as Schema);
  Object.assign(fieldOf(requirement, 'operator'), { enum: ['DoesNotExist', 'Exists', 'In', 'NotIn'] });
  fieldOf(requirement, 'key')['maxLength'] = LONGEST_KEY;
  Object.assign(fieldOf(requirement, 'values'), {
    maxItems: MOST_REQUIREMENTS,
    items: { type: 'string', maxLength: LONGEST_LABEL },
  });
  selector['x-kubernetes-validations'] = [{ rule: 'self == oldSelf', message: 'field is immutable' }];
}

function propertiesOf(schema: Schema | undefined): Fields {
  return schema?.['properties'] as Fields;
}

/** @throws if the published schema no longer has it */
function fieldOf(fields: Fields, name: string): Schema {
  const field = fields[name];
  if (!field) throw new Error(`the schema has no ${name}`);
  return field;
}

/** Writes published schemas as one structural schema, without references. */
class SchemaWriter {
  constructor(private readonly registry: SchemaRegistry) {}

  write(schema: ObjectSchema, described = true): Schema {
    switch (schema.type) {
      case 'ref':
        return this.reference(schema, described);
      case 'object':
        return { type: 'object', ...this.fields(schema, {}, described), ...mapMarks(schema) };
      case 'map':
        return {
          type: 'object',
          additionalProperties: this.write(schema.items ?? { type: 'any' }, described),
          ...mapMarks(schema),
        };
      case 'array':
        return this.list(schema, described);
      case 'string':
        return { ...scalar(schema), ...(schema.enum && { enum: [...schema.enum] }) };
      case 'integer':
      case 'number':
      case 'boolean':
        return scalar(schema);
      default:
        throw new Error(`a ${schema.type} cannot be written as a structural schema`);
    }
  }

  private reference({ ref = '', ...marks }: ObjectSchema, described: boolean): Schema {
    if (ref === OBJECT_META) return structuredClone(EMBEDDED_META);
    const target = this.registry.get(ref);
    if (!target) throw new Error(`unknown reference ${ref}`);
    if (target.type !== 'object') return this.write(target, described);
    const isDescribed = described && ref !== POD_TEMPLATE;
    const texts = isDescribed ? this.registry.describe(ref) : {};
    return {
      type: 'object',
      ...this.fields(target, texts, isDescribed),
      ...mapMarks(target),
      ...mapMarks(marks),
    };
  }

  private fields(
    { properties = {}, required = [] }: ObjectSchema,
    texts: Readonly<Record<string, string>>,
    described: boolean,
  ): Schema {
    const written = Object.entries(properties)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => {
        const description = texts[name] ? { description: texts[name] } : {};
        return [name, { ...description, ...this.write(field, described) }] as const;
      });
    return {
      properties: Object.fromEntries(written),
      ...(required.length > 0 && { required: [...required].sort() }),
    };
  }

  private list(schema: ObjectSchema, described: boolean): Schema {
    const { items = { type: 'any' }, listMapKeys = [], listType } = schema;
    const written = this.write(items, described);
    const required = (written['required'] as string[] | undefined) ?? [];
    for (const key of listMapKeys) {
      const field = fieldOf(propertiesOf(written), key);
      const byDefault = KEY_DEFAULTS[key];
      if (required.includes(key)) continue;
      if (byDefault === undefined)
        throw new Error(`the key ${key} of a list is neither required nor filled in`);
      field['default'] = byDefault;
    }
    return {
      type: 'array',
      items: written,
      ...(listType && { 'x-kubernetes-list-type': listType }),
      ...(listType === 'map' && { 'x-kubernetes-list-map-keys': [...listMapKeys] }),
    };
  }
}

function scalar({ format, type }: ObjectSchema): Schema {
  const known = FORMATS[format ?? ''];
  if (known) return structuredClone(known);
  return { type, ...(format !== undefined && { format }) };
}

function mapMarks({ mapType }: Pick<ObjectSchema, 'mapType'>): Schema {
  return mapType === 'atomic' ? { 'x-kubernetes-map-type': 'atomic' } : {};
}
