import { describe, expect, it } from 'vitest';
import type { DeploymentSpec } from '../../machinery/kubernetes/index.js';
import { DecodeError } from './decode-error.js';
import { decodeJson, decodeObject, describeFinding } from './decode-object.js';
import { createSchemaRegistry } from './schema-registry.js';

const schemas = createSchemaRegistry();
const DEPLOYMENT = 'io.k8s.api.apps.v1.Deployment';

function decode(body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { object, findings } = decodeJson(text, schemas, DEPLOYMENT);
  return { object, findings: findings.map(describeFinding) };
}

async function decodeYaml(text: string) {
  const { object, findings } = await decodeObject(text, 'application/yaml', schemas, DEPLOYMENT);
  return { object, findings: findings.map(describeFinding) };
}

function complaint(body: unknown): string {
  try {
    decode(body);
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
  return 'none';
}

const UNREAD = "couldn't get version/kind; json parse error: ";

describe('decodeObject', () => {
  it('drops unknown fields and reports where they were', () => {
    const { object, findings } = decode({
      kind: 'Deployment',
      spec: { foo: { a: 1 }, template: { spec: { containers: [{ name: 'a' }, { name: 'b', bar: 1 }] } } },
    });
    expect(findings).toEqual([
      'unknown field "spec.foo"',
      'unknown field "spec.template.spec.containers[1].bar"',
    ]);
    expect(object.spec).toEqual({ template: { spec: { containers: [{ name: 'a' }, { name: 'b' }] } } });
  });

  it('finds fields that stand twice, and the last one wins', () => {
    const { object, findings } = decode('{"spec":{"replicas":1,"paused":true,"replicas" : 2}}');
    expect(findings).toEqual(['duplicate field "spec.replicas"']);
    expect(object.spec).toEqual({ replicas: 2, paused: true });
  });

  it('reports unknown and repeated fields in the order of the text, each once', () => {
    const { findings } = decode(
      '{"foo":1,"spec":{"replicas":1,"bar":1,"replicas":2,"replicas":3,"template":{"metadata":{"labels":{"a":"b","a":"c"}}},"bar":2}}',
    );
    expect(findings).toEqual([
      'unknown field "foo"',
      'unknown field "spec.bar"',
      'duplicate field "spec.replicas"',
      'duplicate field "spec.template.metadata.labels.a"',
    ]);
  });

  it('takes the fields of a repeated struct or map together', () => {
    const { findings, object } = decode(
      '{"metadata":{"labels":{"a":"1","b":"1"}},"spec":{"replicas":1,"paused":true},"metadata":{"labels":{"b":"2"}},"spec":{"replicas":2}}',
    );
    expect(findings).toEqual(['duplicate field "metadata"', 'duplicate field "spec"']);
    expect(object).toMatchObject({
      metadata: { labels: { a: '1', b: '2' } },
      spec: { replicas: 2, paused: true },
    });
  });

  it.each([
    ['{"spec":{"replicas":"x","replicas":1}}', 'DeploymentSpec.spec.replicas of type int32'],
    ['{"spec":"x","spec":{}}', 'Deployment.spec of type v1.DeploymentSpec'],
    [
      '{"spec":{"replicas":1.0,"replicas":1}}',
      'number 1.0 into Go struct field DeploymentSpec.spec.replicas',
    ],
    [
      '{"spec":{"template":{"spec":{"containers":[{"ports":[{"hostPort":"x","hostPort":1}]}]}}}}',
      'ContainerPort.spec.template.spec.containers.ports.hostPort of type int32',
    ],
  ])('refuses a value of a wrong type even if another one replaces it: %s', (text, message) => {
    expect(complaint(text)).toContain(message);
  });

  it.each([
    [
      'a value that another one replaces',
      '{"metadata":{"annotations":"x","annotations":{}},"spec":{"replicas":"x"}}',
      'ObjectMeta.metadata.annotations of type map[string]string',
    ],
    [
      'a value before one that another one replaces',
      '{"spec":{"replicas":"x"},"metadata":{"annotations":"x","annotations":{}}}',
      'DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'the value of a repeated key that stands first',
      '{"spec":{"paused":1},"spec":{"replicas":"x"},"spec":{"paused":true}}',
      'DeploymentSpec.spec.paused of type bool',
    ],
    [
      'a value of a type that decodes itself, wherever it stands',
      '{"metadata":{"annotations":"x","annotations":{},"creationTimestamp":1}}',
      'ObjectMeta.metadata.creationTimestamp of type string',
    ],
  ])(
    'refuses the first of several values of a wrong type, although keys are repeated: %s',
    (_what, text, message) => {
      expect(complaint(text)).toContain(message);
    },
  );

  it('reports at most a hundred fields', () => {
    const fields = Array.from({ length: 150 }, (_, index) => `"f${index}":1`).join(',');
    expect(decode(`{${fields}}`).findings).toHaveLength(100);
    expect(decode(`{${fields},"f0":1}`).findings).toHaveLength(100);
  });

  it('reads a key that is repeated often in time that grows with the text', () => {
    const text = (times: number): string =>
      `{"spec":{${Array.from({ length: times }, () => `"template":{"spec":{"containers":[{"name":"a"}]}}`).join(',')}}}`;
    const { findings, object } = decode(text(10_000));
    expect(findings).toEqual(['duplicate field "spec.template"']);
    expect(object.spec).toEqual({ template: { spec: { containers: [{ name: 'a' }] } } });
  });

  it('is not misled by colons and quotes within strings', () => {
    const annotations = { a: '{"x":{"y":"z"}}', 'b"': 'c\\', d: '\\":' };
    expect(decode({ metadata: { annotations } })).toEqual({
      object: { metadata: { annotations } },
      findings: [],
    });
  });

  it.each([
    [
      '{"spec":{"replicas":3.0}}',
      'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 3.0 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1e2}}}}',
      'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 1e2 into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32',
    ],
    ['{"metadata":{"generation": 1.00 }}', expect.stringContaining('cannot unmarshal number 1.00 into')],
    [
      '{"spec":{"template":{"spec":{"containers":[{"ports":[{"containerPort":80.0}]}]}}}}',
      expect.stringContaining('cannot unmarshal number 80.0 into'),
    ],
  ])('takes a fraction for no integer, even if it is a whole number: %s', (text, message) => {
    expect(complaint(text)).toEqual(message);
  });

  it('takes a whole fraction for a quantity, for an integer in YAML, and for the text that it is in a string', async () => {
    const limits = '{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":2.0}}}]}}}}';
    expect(JSON.stringify(decode(limits).object)).toContain('"cpu":"2"');
    expect((await decodeYaml('spec: {replicas: 3.0}')).object.spec).toEqual({ replicas: 3 });
    const applied = decodeJson('{"spec":{"replicas":3.0}}', schemas, DEPLOYMENT, { isYaml: true });
    expect(applied.object.spec).toEqual({ replicas: 3 });
    const annotations = { a: '{"b": 1.0}', b: ':1.0,' };
    expect(decode({ metadata: { annotations }, spec: { replicas: 3 } }).object).toMatchObject({
      metadata: { annotations },
      spec: { replicas: 3 },
    });
  });

  it('looks for nothing when field validation is Ignore', () => {
    const text = '{"foo":1,"kind":"a","kind":"b"}';
    const decoded = decodeJson(text, schemas, DEPLOYMENT, { fieldValidation: 'Ignore' });
    expect(decoded).toEqual({ object: { kind: 'b', metadata: {} }, findings: [] });
  });

  it('takes null and empty optional values for absent, and keeps empty objects', () => {
    const { object } = decode({
      metadata: { name: 'a', labels: {}, finalizers: [], creationTimestamp: null, namespace: '' },
      spec: { replicas: 0, strategy: {}, selector: { matchLabels: { a: null } } },
    });
    expect(object).toEqual({
      metadata: { name: 'a' },
      spec: { replicas: 0, strategy: {}, selector: { matchLabels: { a: '' } } },
    });
  });

  it('reads YAML, with its duplicates', async () => {
    const { object, findings } = await decodeYaml(
      'metadata:\n  name: a\n  annotations: {when: "2020-01-01"}\nspec:\n  replicas: 3\n  replicas: 4\n  paused: yes\n',
    );
    expect(object.spec).toEqual({ replicas: 4, paused: true });
    expect(findings).toEqual(['line 6: key "replicas" already set in map']);
  });

  it('brings quantities and times to their canonical form', () => {
    const resources = { limits: { cpu: 0.5, memory: '1024Ki' }, requests: { cpu: '1000m' } };
    const { object } = decode({
      metadata: { creationTimestamp: '2020-01-01T02:00:00.5+02:00' },
      spec: { template: { spec: { containers: [{ resources }] } } },
    });
    expect(object).toEqual({
      metadata: { creationTimestamp: '2020-01-01T00:00:00Z' },
      spec: {
        template: {
          spec: {
            containers: [{ resources: { limits: { cpu: '500m', memory: '1Mi' }, requests: { cpu: '1' } } }],
          },
        },
      },
    });
  });

  it.each([
    [{ spec: { replicas: '3' } }, 'string into Go struct field DeploymentSpec.spec.replicas of type int32'],
    [
      { spec: { replicas: 1.5 } },
      'number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      { spec: { replicas: 3e9 } },
      'number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      { metadata: { labels: { a: 1 } } },
      'number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      { spec: { template: { spec: { containers: {} } } } },
      'object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container',
    ],
    [
      { spec: { template: { spec: { containers: [{ image: true }] } } } },
      'bool into Go struct field Container.spec.template.spec.containers.image of type string',
    ],
    [
      { spec: { strategy: { rollingUpdate: { maxSurge: [] } } } },
      'array into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32',
    ],
  ])('refuses a value of a wrong type: %j', (body, words) => {
    expect(complaint(body)).toBe(
      `Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal ${words}`,
    );
  });

  it.each([
    ['application/json', '{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":%}}}}'],
    ['application/yaml', 'spec:\n  template:\n    spec:\n      terminationGracePeriodSeconds: %\n'],
  ])('reads the integers of int64 to the last digit: %s', async (type, text) => {
    const graceOf = async (number: string): Promise<unknown> => {
      const { object } = await decodeObject(text.replace('%', number), type, schemas, DEPLOYMENT);
      return (object as unknown as { spec: DeploymentSpec }).spec.template.spec
        ?.terminationGracePeriodSeconds;
    };
    expect(await graceOf('30')).toBe(30);
    expect(await graceOf('9007199254740993')).toBe(9007199254740993n);
    expect(await graceOf('9223372036854775807')).toBe(9223372036854775807n);
    expect(await graceOf('-9223372036854775808')).toBe(-9223372036854775808n);
    if (type === 'application/yaml') expect(await graceOf('1e17')).toBe(100000000000000000n);
  });

  it('reads a quantity that is a large number as it stands', () => {
    const text = `{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"memory":9007199254740993}}}]}}}}`;
    expect(decode(text).object.spec).toEqual({
      template: { spec: { containers: [{ resources: { limits: { memory: '9007199254740993' } } }] } },
    });
  });

  const inSpec = '"spec":{"template":{"spec":{"terminationGracePeriodSeconds"';
  it.each([
    [
      `{${inSpec}:9223372036854775808}}}}`,
      'number 9223372036854775808 into Go struct field PodSpec.spec.template.spec.terminationGracePeriodSeconds of type int64',
    ],
    [
      `{${inSpec}:-9223372036854775809}}}}`,
      'number -9223372036854775809 into Go struct field PodSpec.spec.template.spec.terminationGracePeriodSeconds of type int64',
    ],
    [
      `{${inSpec}:1.5}}}}`,
      'number 1.5 into Go struct field PodSpec.spec.template.spec.terminationGracePeriodSeconds of type int64',
    ],
    [
      '{"spec":{"replicas":9007199254740993}}',
      'number 9007199254740993 into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      '{"metadata":{"labels":{"a":9007199254740993}}}',
      'number into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      '{"spec":{"strategy":{"rollingUpdate":{"maxSurge":9007199254740993}}}}',
      'number 9007199254740993 into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32',
    ],
  ])('refuses an integer that its type does not hold: %s', (text, words) => {
    expect(complaint(text)).toBe(
      `Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal ${words}`,
    );
  });

  it.each([
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string", '{"a":1,}'],
    ['{"a" 1}', "invalid character '1' after object key", '{"a" 1}'],
    ['{"a":1', 'unexpected end of JSON input', '{"a":1'],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')", '{"a":tru}'],
    ['hello', "invalid character 'h' looking for beginning of value", '68656c6c6f'],
    ['', 'unexpected end of JSON input', '<empty>'],
  ])('refuses a malformed text: %s', (text, words, summary) => {
    expect(complaint(text)).toBe(
      `the object provided is unrecognized (must be of type Deployment): couldn't get version/kind; json parse error: ${words} (${summary})`,
    );
  });

  it.each([
    [
      '{"KIND":1,"kind":"Deployment"}',
      `${UNREAD}json: cannot unmarshal number into Go struct field .kind of type string`,
    ],
    [
      '{"apiversion":[],"kind":"x"}',
      `${UNREAD}json: cannot unmarshal array into Go struct field .apiVersion of type string`,
    ],
    ['{"apiVersion":"/bin/sh"}', 'unexpected GroupVersion string: /bin/sh'],
  ])('refuses what a document calls itself, in any case: %s', (text, words) => {
    expect(complaint(text)).toContain(`(must be of type Deployment): ${words} (`);
  });

  it('judges what a document calls itself before its fields', () => {
    const checkType = ({ kind }: { readonly kind?: string }): void => {
      throw new Error(`no ${kind}`);
    };
    const read = () =>
      decodeJson('{"spec":1,"kind":"Pod","Kind":"Other"}', schemas, DEPLOYMENT, { checkType });
    expect(read).toThrow('no Other');
  });

  it('reports the first value of a wrong type, unless a type that decodes itself refuses one', () => {
    const wrong = '"metadata":{"labels":1},"spec":{"replicas":"x"}';
    expect(complaint(`{${wrong}}`)).toMatch(/ number into Go struct field ObjectMeta.metadata.labels /);
    const late = '"status":{"conditions":[{"lastUpdateTime":"yesterday"}]}';
    expect(complaint(`{${wrong},${late}}`)).toMatch(/: parsing time "yesterday" /);
  });

  it('rounds amounts of resources to thousandths', () => {
    const spec = { containers: [{ name: 'a', resources: { requests: { cpu: '0.0001' } } }] };
    expect(decode({ spec: { template: { spec } } }).object).toMatchObject({
      spec: { template: { spec: { containers: [{ resources: { requests: { cpu: '1m' } } }] } } },
    });
  });

  it('refuses malformed YAML, naming the line', async () => {
    await expect(decodeYaml('a: b: c')).rejects.toThrow(
      /^the object provided is unrecognized \(must be of type Deployment\): yaml: line 1: /,
    );
  });
});

describe('describeFinding', () => {
  it.each([
    ['spec.foo', '"spec.foo"'],
    ['a"b\\c', String.raw`"a\"b\\c"`],
    ['a\u0001\r\n\u007f\u0085', String.raw`"a\x01\r\n\x7f\u0085"`],
    ['поле', '"поле"'],
  ])('quotes %j as Go does', (path, shown) => {
    expect(describeFinding({ problem: 'unknown', path })).toBe(`unknown field ${shown}`);
  });
});
