import type { Seed, SeedWorld } from './seed.js';
import {
  aDeployment,
  podBody,
  APPLY_PATCH,
  DEPLOYMENTS,
  JSON_PATCH,
  JSON_TYPE,
  MERGE_PATCH,
  nested,
  PODS,
  PROTOBUF_TYPE,
  STRATEGIC_PATCH,
  VICTIM,
  YAML_TYPE,
} from './seed.js';

const MAGIC = Buffer.from('k8s\0');

/** `runtime.Unknown` around a message of a kind. */
function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const text = (field: number, value: string | Buffer): Buffer =>
    Buffer.concat([Buffer.from([(field << 3) | 2]), varint(value.length), Buffer.from(value)]);
  const type = Buffer.concat([text(1, apiVersion), text(2, kind)]);
  return Buffer.concat([MAGIC, text(1, type), text(2, raw)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

/** Kubernetes says of none of them what is wrong with it. */
const refusedPatches: readonly (readonly [what: string, body: unknown])[] = [
  ['operations that are strings', ['add']],
  ['operations that are lists', [[]]],
  ['an operation that is null', [null]],
  ['a patch that is an object', { op: 'add' }],
  ['a path that is a number', [{ op: 'add', path: 1, value: 1 }]],
  ['a path that is an object', [{ op: 'add', path: {}, value: 1 }]],
  ['no path', [{ op: 'remove' }]],
  ['a path without a slash', [{ op: 'add', path: 'spec/replicas', value: 1 }]],
  ['a source that is a list', [{ op: 'copy', from: [], path: '/spec/x' }]],
  ['a source without a slash', [{ op: 'move', from: 'spec', path: '/x' }]],
  ['no source', [{ op: 'move', path: '/x' }]],
  ['adding below a string', [{ op: 'add', path: '/kind/x', value: 1 }]],
  ['adding below a number', [{ op: 'add', path: '/spec/replicas/x/y', value: 1 }]],
  ['removing below a string', [{ op: 'remove', path: '/kind/0' }]],
  ['moving into itself', [{ op: 'move', from: '/spec', path: '/spec/template' }]],
  ['an index that is none', [{ op: 'add', path: '/spec/template/spec/containers/x', value: {} }]],
  ['an index far away', [{ op: 'add', path: '/spec/template/spec/containers/99999999999', value: {} }]],
  ['the length of a list', [{ op: 'replace', path: '/spec/template/spec/containers/length', value: 0 }]],
  ['an operation that nobody knows', [{ op: 'destroy', path: '/spec' }]],
  ['replacing everything by a string', [{ op: 'replace', path: '', value: 'x' }]],
  ['replacing everything by nothing', [{ op: 'replace', path: '', value: null }]],
  ['removing everything', [{ op: 'remove', path: '' }]],
  ['replacing metadata by a string', [{ op: 'replace', path: '/metadata', value: 'x' }]],
];

const deep: readonly (readonly [string, readonly [string, string, string]])[] = [
  ['lists', ['[', '', ']']],
  ['objects', ['{"a":', '1', '}']],
  ['lists in objects', ['{"a":[', '', ']}']],
];

export const MALFORMED_SEEDS: readonly Seed[] = [
  ...refusedPatches.map(([what, body]) => ({
    name: `a JSON patch with ${what} is refused`,
    run: (world: SeedWorld) => world.refuses(world.patch(JSON_PATCH, body)),
  })),
  ...[MERGE_PATCH, STRATEGIC_PATCH, JSON_PATCH, APPLY_PATCH].flatMap((type) =>
    [
      'null',
      '1',
      '"x"',
      '[]',
      '[[]]',
      '',
      '{',
      '\u0000',
      '{"metadata":null}',
      '{"metadata":[]}',
      '{"spec":"x"}',
    ].map((body) => ({
      name: `a patch that is ${JSON.stringify(body)} is refused or harmless: ${type}`,
      run: async (world: SeedWorld) =>
        void (await world.patch(type, body, type === APPLY_PATCH ? `${VICTIM}?fieldManager=f` : VICTIM)),
    })),
  ),
  ...[JSON_TYPE, YAML_TYPE, APPLY_PATCH, MERGE_PATCH, STRATEGIC_PATCH, JSON_PATCH].flatMap((type) =>
    deep.flatMap(([what, texts]) =>
      [5000, 100_000].map((depth) => ({
        name: `${what} ${depth} deep are refused: ${type}`,
        run: async (world: SeedWorld) => {
          const body = nested(depth, texts);
          const isPatch = type.includes('patch');
          const below = isPatch && type !== JSON_PATCH ? `{"metadata":{"annotations":${body}}}` : body;
          const operation = `[{"op":"add","path":"/metadata/annotations","value":${body}}]`;
          const sent = isPatch
            ? world.patch(type, type === JSON_PATCH ? operation : below, `${VICTIM}?fieldManager=f`)
            : world.write('POST', DEPLOYMENTS, type, body);
          await world.refuses(sent);
        },
      })),
    ),
  ),
  {
    name: 'deep values in fields that take any are refused or stored',
    async run(world) {
      for (const depth of [100, 900, 5000]) {
        const fields = nested(depth, ['{"f:a":', '{}', '}']);
        const entry = `{"manager":"m","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":${fields}}`;
        await world.patch(MERGE_PATCH, `{"metadata":{"managedFields":[${entry}]}}`);
        await world.send({ method: 'GET', path: VICTIM });
      }
    },
  },
  {
    name: 'what client-side apply left behind may be anything',
    async run(world) {
      const key = 'kubectl.kubernetes.io/last-applied-configuration';
      for (const value of [
        nested(100_000, ['[', '', ']']),
        nested(5000, ['{"spec":', '1', '}']),
        '{"metadata":1}',
        'x',
      ]) {
        await world.patch(MERGE_PATCH, { metadata: { annotations: { [key]: value }, managedFields: [{}] } });
        const config = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { annotations: { a: 'b' } } };
        await world.patch(APPLY_PATCH, config, `${VICTIM}?fieldManager=kubectl`);
      }
    },
  },
  {
    name: 'managed fields that are none',
    async run(world) {
      const entry = (fieldsV1: unknown) => ({
        manager: 'm',
        operation: 'Apply',
        apiVersion: 'apps/v1',
        fieldsType: 'FieldsV1',
        fieldsV1,
      });
      const containers = (element: string) => ({
        'f:spec': {
          'f:template': { 'f:spec': { 'f:containers': { [element]: { '.': {}, 'f:image': {} } } } },
        },
      });
      for (const fields of [
        ...[
          'k:',
          'k:{',
          'k:1',
          'k:null',
          'k:"x"',
          'k:[]',
          'k:{"name":{}}',
          'v:',
          'v:{',
          'i:x',
          'f:',
          'x:1',
          '',
        ].map(containers),
        ...[1, 'x', [], null, { 'f:spec': 1 }, { 'f:spec': [] }],
      ]) {
        await world.patch(MERGE_PATCH, { metadata: { managedFields: [entry(fields)] } });
        const spec = { template: { spec: { containers: [{ name: 'c', image: 'other' }] } } };
        const config = { apiVersion: 'apps/v1', kind: 'Deployment', spec };
        await world.patch(APPLY_PATCH, config, `${VICTIM}?fieldManager=other`);
      }
    },
  },
  ...[0, 1, 3, 4, 5, 6, 7].map((wireType) => ({
    name: `protobuf of wire type ${wireType} where there is none such is refused`,
    async run(world: SeedWorld) {
      for (const field of [1, 2, 3, 15, 200]) {
        const tag = varint((field << 3) | wireType);
        const raw = Buffer.concat([tag, Buffer.alloc(40, 0xff)]);
        await world.refuses(
          world.write('POST', DEPLOYMENTS, PROTOBUF_TYPE, envelope('apps/v1', 'Deployment', raw)),
        );
        await world.refuses(
          world.write('POST', DEPLOYMENTS, PROTOBUF_TYPE, Buffer.concat([MAGIC, tag, raw])),
        );
      }
    },
  })),
  {
    name: 'protobuf that is cut short, endless or nested is refused',
    async run(world) {
      const groups = Buffer.alloc(200_000, (3 << 3) | 3);
      for (const raw of [
        Buffer.from([0x0a]),
        Buffer.from([0x0a, 0xff, 0xff, 0x7f]),
        Buffer.alloc(100, 0xff),
        groups,
      ]) {
        await world.refuses(
          world.write('POST', DEPLOYMENTS, PROTOBUF_TYPE, envelope('apps/v1', 'Deployment', raw)),
        );
      }
      for (const body of [Buffer.alloc(0), MAGIC, Buffer.from('k8s'), Buffer.concat([MAGIC, groups])]) {
        await world.refuses(world.write('POST', DEPLOYMENTS, PROTOBUF_TYPE, body));
      }
      const year = Buffer.from([
        0x0a, 0x0c, 0x42, 0x0a, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x0a,
      ]);
      await world.write('POST', DEPLOYMENTS, PROTOBUF_TYPE, envelope('apps/v1', 'Deployment', year));
    },
  },
  ...(
    [
      ['contains itself', '&a [*a]'],
      ['contains itself in a map', '&a {x: *a}'],
      ['contains itself in metadata', 'metadata: &m {annotations: *m}'],
      ['is an alias of nothing', '*a'],
      ['has a map for a key', '{[a, b]: 1, {c: d}: 2}'],
      ['merges itself', '&a {<<: *a}'],
      ['merges a list', '{<<: [1, 2]}'],
      ['is many documents', 'a: 1\n---\nb: 2'],
      ['has tags', '!!binary "x"\n'],
      ['has unknown tags', '!foo {a: !bar b}'],
      ['has sets and ordered maps', '!!set {a, b}\n'],
      ['has a directive', '%YAML 9.9\n---\na: 1'],
      ['is a scalar', 'hello'],
      ['is empty', ''],
      ['has __proto__', '__proto__: {polluted: yes}\nmetadata: {__proto__: {polluted: yes}}'],
    ] as const
  ).flatMap(([what, text]) => [
    {
      name: `YAML that ${what} is refused or harmless`,
      run: async (world: SeedWorld) => {
        await world.write('POST', DEPLOYMENTS, YAML_TYPE, text);
        await world.patch(APPLY_PATCH, text, `${VICTIM}?fieldManager=f`);
        await world.write('DELETE', `${DEPLOYMENTS}/none`, YAML_TYPE, text);
        await world.write('PUT', VICTIM, YAML_TYPE, text);
      },
    },
  ]),
  {
    name: 'an alias bomb is refused',
    async run(world) {
      const lines = ['a: &a0 [x,x,x,x,x,x,x,x,x,x]'];
      for (let i = 1; i < 10; i++)
        lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join()}]`);
      const bomb = lines.join('\n');
      await world.refuses(world.write('POST', DEPLOYMENTS, YAML_TYPE, bomb));
      await world.refuses(world.patch(APPLY_PATCH, bomb, `${VICTIM}?fieldManager=f`));
      await world.refuses(world.write('DELETE', VICTIM, YAML_TYPE, bomb));
    },
  },
  ...[{}, { toString: 1 }, [], [1], true, { '': null }].map((quantity) => ({
    name: `a quantity that is ${JSON.stringify(quantity)} is refused`,
    async run(world: SeedWorld) {
      const container = { name: 'c', image: 'i', resources: { limits: { cpu: quantity } } };
      const pod = podBody('quantity', { containers: [container] });
      await world.refuses(world.write('POST', PODS, JSON_TYPE, JSON.stringify(pod)));
    },
  })),
  {
    name: 'a quantity of a million digits is refused',
    async run(world) {
      for (const cpu of ['9'.repeat(1_000_000), `0.${'0'.repeat(1_000_000)}1`, `1e${'9'.repeat(1000)}`]) {
        const pod = podBody('quantity', {
          containers: [{ name: 'c', image: 'i', resources: { limits: { cpu } } }],
        });
        await world.refuses(world.write('POST', PODS, JSON_TYPE, JSON.stringify(pod)));
      }
    },
  },
  ...[YAML_TYPE, JSON_TYPE].map((type) => ({
    name: `options of a deletion that are none are refused: ${type}`,
    async run(world: SeedWorld) {
      for (const body of [
        '[]',
        '"x"',
        '1',
        'null',
        nested(100_000, ['[', '', ']']),
        '{"preconditions":[]}',
        '{"dryRun":{}}',
      ]) {
        await world.write('DELETE', `${DEPLOYMENTS}/none`, type, body);
        await world.write('POST', `${PODS}/none/eviction`, type, body);
        await world.write('POST', `${PODS}/none/eviction`, type, `{"deleteOptions":${body}}`);
      }
    },
  })),
  {
    name: 'bodies of subresources may be anything',
    async run(world) {
      for (const body of [
        'null',
        '[]',
        '{}',
        '{"spec":null}',
        '{"spec":[]}',
        '{"spec":{"replicas":1e300}}',
        '{"metadata":null}',
        '{"metadata":[]}',
        '{"target":[]}',
        '{"target":{"name":{}}}',
      ]) {
        for (const [method, path] of [
          ['PUT', `${VICTIM}/scale`],
          ['PUT', `${VICTIM}/status`],
          ['POST', `${PODS}/none/binding`],
          ['PUT', '/api/v1/namespaces/fuzz/finalize'],
          ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
          ['POST', '/apis/authentication.k8s.io/v1/tokenreviews'],
        ] as const) {
          await world.write(method, path, JSON_TYPE, body);
        }
        for (const type of [MERGE_PATCH, STRATEGIC_PATCH]) {
          await world.patch(type, body, `${VICTIM}/scale`);
          await world.patch(type, body, `${VICTIM}/status`);
        }
      }
      await world.patch(JSON_PATCH, [{ op: 'replace', path: '', value: [] }], `${VICTIM}/scale`);
      await world.patch(JSON_PATCH, [{ op: 'remove', path: '/metadata' }], `${VICTIM}/scale`);
    },
  },
  {
    name: 'a view that nobody has is refused before anything is written',
    async run(world) {
      const headers = { 'content-type': JSON_TYPE, accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
      const body = JSON.stringify(aDeployment('viewed'));
      await world.refuses(
        world.send({ method: 'POST', path: `${DEPLOYMENTS}?includeObject=Everything`, headers, body }),
      );
      const answer = await world.send({ method: 'GET', path: `${DEPLOYMENTS}/viewed` });
      if (answer.status !== 404) throw new Error('it was refused, and written');
    },
  },
  {
    name: 'a definition with integers that no double holds is described',
    async run(world) {
      const integers = '{"type":"integer","default":9223372036854775807,"enum":[9223372036854775807]}';
      const schema = `{"type":"object","properties":{"spec":{"type":"object","properties":{"serial":${integers}}}}}`;
      const group = 'digits.example.com';
      const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const path = `${definitions}/serials.${group}`;
      const body = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"serials.${group}"},
        "spec":{"group":"${group}","scope":"Namespaced","names":{"plural":"serials","kind":"Serial"},
        "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]}}`;
      await world.does(world.write('PATCH', `${path}?fieldManager=fuzz`, APPLY_PATCH, body));
      for (const document of [`/openapi/v3/apis/${group}/v1`, '/openapi/v2'])
        await world.does(world.send({ method: 'GET', path: document }));
      await world.does(world.send({ method: 'DELETE', path }));
    },
  },
];
