/**
 * A CustomResourceDefinition as operators have them that carry whole pod templates: hundreds of described fields, a dozen
 * levels deep. Made to a size, and always the same.
 */
export function largeDefinition(group: string, bytes: number): object {
  const spec: Record<string, object> = {};
  let length = 0;
  for (let index = 0; length < bytes; index++) {
    const part = podTemplate(index);
    length += JSON.stringify(part).length + 20;
    spec[`template${index}`] = part;
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `monitors.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'monitors', kind: 'Monitor', categories: ['monitoring'], shortNames: ['mon'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: told('Monitor', 3),
              properties: {
                spec: { type: 'object', description: told('spec', 3), properties: spec },
                status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
          },
        },
      ],
    },
  };
}

const WORDS =
  'The value that is taken where nothing else is said, as long as the object lives and its owner does not ask for another.';

function told(name: string, sentences: number): string {
  return `${name}: ${Array.from({ length: sentences }, () => WORDS).join(' ')}`;
}

const text = (name: string) => ({ type: 'string', description: told(name, 1) });
const integer = (name: string) => ({ type: 'integer', format: 'int32', description: told(name, 1) });
const amount = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern: '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?[0-9]+))?$',
  'x-kubernetes-int-or-string': true,
};
const object = (name: string, properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  description: told(name, 2),
  properties,
  ...(required.length > 0 && { required }),
});
const list = (name: string, key: string, items: object) => ({
  type: 'array',
  description: told(name, 1),
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
});

function podTemplate(index: number): object {
  const selector = object('selector', {
    matchLabels: {
      type: 'object',
      description: told('matchLabels', 1),
      additionalProperties: { type: 'string' },
    },
    matchExpressions: list(
      'matchExpressions',
      'key',
      object(
        'expression',
        {
          key: text('key'),
          operator: { ...text('operator'), enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
          values: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
        },
        ['key', 'operator'],
      ),
    ),
  });
  const affinity = object('affinity', {
    preferred: list(
      'preferred',
      'weight',
      object('term', { weight: integer('weight'), selector }, ['weight']),
    ),
    required: list(
      'required',
      'topologyKey',
      object('term', { topologyKey: text('topologyKey'), selector }, ['topologyKey']),
    ),
  });
  const probe = object('probe', {
    httpGet: object('httpGet', { path: text('path'), port: { ...amount, description: told('port', 1) } }, [
      'port',
    ]),
    exec: object('exec', { command: { type: 'array', items: { type: 'string' } } }),
    periodSeconds: { ...integer('periodSeconds'), default: 10, minimum: 1 },
    failureThreshold: { ...integer('failureThreshold'), default: 3 },
  });
  const container = object(
    'container',
    {
      name: { ...text('name'), pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 },
      image: text('image'),
      env: list('env', 'name', object('variable', { name: text('name'), value: text('value') }, ['name'])),
      livenessProbe: probe,
      readinessProbe: probe,
      startupProbe: probe,
      resources: object('resources', {
        limits: { type: 'object', additionalProperties: amount, description: told('limits', 1) },
        requests: { type: 'object', additionalProperties: amount, description: told('requests', 1) },
      }),
      volumeMounts: list(
        'volumeMounts',
        'mountPath',
        object('mount', { mountPath: text('mountPath'), name: text('name'), readOnly: { type: 'boolean' } }, [
          'mountPath',
        ]),
      ),
    },
    ['name'],
  );
  return object(`template${index}`, {
    replicas: { ...integer('replicas'), default: 1 },
    affinity,
    antiAffinity: affinity,
    containers: list('containers', 'name', container),
    initContainers: list('initContainers', 'name', container),
    nodeSelector: selector,
    extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description: told('extra', 1) },
  });
}
