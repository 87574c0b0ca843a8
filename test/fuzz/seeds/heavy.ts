import type { Answer } from '../fuzzed-server.js';
import type { Seed, SeedWorld } from './seed.js';
import {
  aDeployment,
  podBody,
  APPLY_PATCH,
  aTemplate,
  DEPLOYMENTS,
  describe,
  JSON_PATCH,
  JSON_TYPE,
  MERGE_PATCH,
  PODS,
  STRATEGIC_PATCH,
  times,
  VICTIM,
  YAML_TYPE,
} from './seed.js';

const CLAIMS = '/api/v1/namespaces/fuzz/persistentvolumeclaims';

/** Larger than any answer to one small request needs to be, bytes. */
const MAX_ANSWER = 4 * 1024 * 1024;

const env = (count: number) => times(count, (index) => ({ name: `VARIABLE_${index}`, value: 'x' }));
const podWith = (spec: object): object => ({ spec: { template: { spec } } });
const withEnv = (count: number, more: object = {}): object =>
  podWith({ containers: [{ name: 'c', image: 'i:1', env: env(count), ...more }] });

/** Twice: the second time it meets itself. */
async function patchTwice(world: SeedWorld, type: string, body: object): Promise<void> {
  const path = type === APPLY_PATCH ? `${VICTIM}?fieldManager=fuzz&force=true` : VICTIM;
  const whole = type === APPLY_PATCH ? { apiVersion: 'apps/v1', kind: 'Deployment', ...body } : body;
  for (let round = 0; round < 2; round++) {
    const answer = await world.patch(type, whole, path);
    if (answer.text.length > MAX_ANSWER) throw new Error(`an answer of ${answer.text.length} bytes`);
  }
}

/** A client that is refused while it is still sending may find the connection closed. */
async function refusesOrCloses(world: SeedWorld, sent: Promise<Answer>): Promise<void> {
  await world.refuses(sent).catch((error: unknown) => {
    if (!/ECONNRESET|EPIPE|other side closed|socket/i.test(String(error))) throw error;
  });
}

/** Parts of which the body of a Pod may have too much. */
const swollen: readonly (readonly [what: string, make: (world: SeedWorld) => object])[] = [
  [
    '50 000 containers without a name',
    (w) => podBody('p', { containers: times(w.scaled(50_000), () => ({})) }),
  ],
  [
    '50 000 containers of one name',
    (w) => podBody('p', { containers: times(w.scaled(50_000), () => ({ name: 'c', image: 'i' })) }),
  ],
  [
    '50 000 containers',
    (w) => podBody('p', { containers: times(w.scaled(50_000), (i) => ({ name: `c${i}`, image: 'i' })) }),
  ],
  [
    '100 000 ports',
    (w) =>
      podBody('p', {
        containers: [
          {
            name: 'c',
            image: 'i',
            ports: times(w.scaled(100_000), () => ({ hostPort: 1, containerPort: 1 })),
          },
        ],
      }),
  ],
  [
    '50 000 tolerations',
    (w) =>
      podBody('p', { tolerations: times(w.scaled(50_000), (i) => ({ key: `k${i}`, operator: 'Exists' })) }),
  ],
  [
    '50 000 volumes that nobody knows',
    (w) =>
      podBody('p', {
        volumes: times(w.scaled(50_000), () => ({ name: 'v' })),
        containers: [
          {
            name: 'c',
            image: 'i',
            volumeMounts: times(w.scaled(50_000), () => ({ name: 'x', mountPath: '/' })),
          },
        ],
      }),
  ],
  [
    '20 000 controllers',
    (w) =>
      podBody(
        'p',
        {},
        {
          ownerReferences: times(w.scaled(20_000), (i) => ({
            apiVersion: 'v1',
            kind: 'K',
            name: `o${i}`,
            uid: `u${i}`,
            controller: true,
          })),
        },
      ),
  ],
  [
    '100 000 finalizers',
    (w) => podBody('p', {}, { finalizers: times(w.scaled(100_000), (i) => `bad name ${i}`) }),
  ],
  [
    '100 000 labels',
    (w) =>
      podBody(
        'p',
        {},
        { labels: Object.fromEntries(times(w.scaled(100_000), (i) => [`bad name ${i}`, '!'])) },
      ),
  ],
  [
    'a label of 2 MB',
    () => podBody('p', {}, { labels: { [`a${'.a'.repeat(500_000)}!`]: `a${'-a'.repeat(500_000)}!` } }),
  ],
  ['a name of 2 MB', () => podBody(`a${'.a'.repeat(1_000_000)}!`)],
  ['an annotation of 2 MB', () => podBody('p', {}, { annotations: { a: 'x'.repeat(2_000_000) } })],
  ['1 000 000 empty maps', (w) => ({ ...podBody('p'), status: times(w.scaled(1_000_000), () => ({})) })],
  ['1 000 000 numbers', (w) => podBody('p', { nodeSelector: times(w.scaled(1_000_000), () => 1) })],
];

export const HEAVY_SEEDS: readonly Seed[] = [
  ...[STRATEGIC_PATCH, MERGE_PATCH, APPLY_PATCH].map((type) => ({
    name: `50 000 environment variables in one patch hold nobody up: ${type}`,
    run: (world: SeedWorld) => patchTwice(world, type, withEnv(world.scaled(50_000))),
  })),
  {
    name: 'a strategic patch that orders 50 000 items holds nobody up',
    async run(world) {
      const count = world.scaled(50_000);
      const names = times(count, (index) => ({ name: `VARIABLE_${count - index}` }));
      await patchTwice(world, STRATEGIC_PATCH, withEnv(count, { '$setElementOrder/env': names }));
    },
  },
  {
    name: 'a strategic patch that deletes 50 000 items holds nobody up',
    async run(world) {
      const count = world.scaled(50_000);
      await world.patch(STRATEGIC_PATCH, withEnv(count));
      const gone = times(count, (index) => ({ $patch: 'delete', name: `VARIABLE_${index}` }));
      await patchTwice(world, STRATEGIC_PATCH, podWith({ containers: [{ name: 'c', env: gone }] }));
    },
  },
  {
    name: 'a strategic patch that takes 100 000 finalizers from 100 000 holds nobody up',
    async run(world) {
      const finalizers = times(world.scaled(100_000), (index) => `example.com/f${index}`);
      await world.patch(MERGE_PATCH, { metadata: { finalizers } });
      const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': finalizers, finalizers: [] } };
      await patchTwice(world, STRATEGIC_PATCH, patch);
    },
  },
  {
    name: 'a strategic patch that retains 100 000 keys holds nobody up',
    async run(world) {
      const keys = times(world.scaled(100_000), (index) => `k${index}`);
      const strategy = { $retainKeys: keys, ...Object.fromEntries(keys.map((key) => [key, 1])) };
      await patchTwice(world, STRATEGIC_PATCH, { spec: { strategy } });
    },
  },
  {
    name: '20 000 managers of fields hold nobody up',
    async run(world) {
      for (const operation of ['Update', 'Apply']) {
        const managedFields = times(world.scaled(20_000), (index) => ({
          manager: `m${index}`,
          operation,
          apiVersion: 'apps/v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { [`f:x${index}`]: {} },
        }));
        await world.patch(MERGE_PATCH, { metadata: { managedFields } });
        await world.patch(MERGE_PATCH, { spec: { replicas: 4 } });
        const config = { apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 5 } };
        await world.patch(APPLY_PATCH, config, `${VICTIM}?fieldManager=fuzz&force=true`);
      }
    },
  },
  {
    name: 'a conflict about 20 000 fields is told in a short text',
    async run(world) {
      const annotations = (value: string) =>
        Object.fromEntries(times(world.scaled(20_000), (index) => [`a${index}`, value]));
      const config = (value: string) => ({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { annotations: annotations(value) },
      });
      await world.patch(APPLY_PATCH, config('1'), `${VICTIM}?fieldManager=one`);
      const answer = await world.patch(APPLY_PATCH, config('2'), `${VICTIM}?fieldManager=two`);
      if (answer.text.length > MAX_ANSWER) throw new Error(`an answer of ${answer.text.length} bytes`);
    },
  },
  ...swollen.flatMap(([what, make]) =>
    [JSON_TYPE, YAML_TYPE].map((type) => ({
      name: `a pod with ${what} is refused or done, and holds nobody up: ${type}`,
      async run(world: SeedWorld) {
        const answer = await world.write('POST', PODS, type, JSON.stringify(make(world)));
        if (answer.text.length > MAX_ANSWER) throw new Error(`an answer of ${answer.text.length} bytes`);
      },
    })),
  ),
  {
    name: 'a changed claim of 15 000 labels or 15 000 equal requirements holds nobody up',
    async run(world) {
      const count = world.scaled(15_000);
      const selectors = [
        { matchLabels: Object.fromEntries(times(count, (index) => [`k${index}`, 'x'])) },
        { matchExpressions: times(count, () => ({ key: 'a', operator: 'In', values: ['x'] })) },
      ];
      // Each has a name of its own: a claim goes only once its protection lets go of it.
      for (const [index, selector] of selectors.entries()) {
        const name = `wide-${index}`;
        const claim = (storageClassName: string): string =>
          JSON.stringify({
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            metadata: { name },
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: '1Gi' } },
              selector,
              storageClassName,
            },
          });
        await world.does(world.write('POST', CLAIMS, JSON_TYPE, claim('one')));
        const answer = await world.write('PUT', `${CLAIMS}/${name}`, JSON_TYPE, claim('other'));
        if (answer.text.length > MAX_ANSWER) throw new Error(`an answer of ${answer.text.length} bytes`);
        await world.send({ method: 'DELETE', path: `${CLAIMS}/${name}` });
      }
    },
  },
  {
    name: 'a million digits in a duration hold nobody up',
    async run(world) {
      const group = 'long.example.com';
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/waits.${group}`;
      const properties = { wait: { type: 'string', format: 'duration' } };
      const definition = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `waits.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { plural: 'waits', kind: 'Wait' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', properties } },
            },
          ],
        },
      };
      await world.does(
        world.write('PATCH', `${path}?fieldManager=fuzz`, APPLY_PATCH, JSON.stringify(definition)),
      );
      const waits = {
        apiVersion: `${group}/v1`,
        kind: 'Wait',
        metadata: { name: 'w' },
        wait: '1'.repeat(world.scaled(1_000_000)),
      };
      await world.write('POST', `/apis/${group}/v1/namespaces/fuzz/waits`, JSON_TYPE, JSON.stringify(waits));
      await world.does(world.send({ method: 'DELETE', path }));
    },
  },
  {
    name: 'taking one toleration from 20 000 holds nobody up',
    async run(world) {
      const tolerations = times(world.scaled(20_000), (index) => ({ key: `k${index}`, operator: 'Exists' }));
      await world.write('POST', PODS, JSON_TYPE, JSON.stringify(podBody('tolerant', { tolerations })));
      await world.patch(MERGE_PATCH, { spec: { tolerations: tolerations.slice(1) } }, `${PODS}/tolerant`);
      await world.send({ method: 'DELETE', path: `${PODS}/tolerant?gracePeriodSeconds=0` });
    },
  },
  {
    name: 'finalizers added while an object goes hold nobody up',
    async run(world) {
      const finalizers = times(world.scaled(50_000), (index) => `example.com/f${index}`);
      await world.patch(MERGE_PATCH, { metadata: { finalizers } });
      await world.send({ method: 'DELETE', path: VICTIM });
      const others = times(world.scaled(50_000), (index) => `example.com/g${index}`);
      await world.patch(MERGE_PATCH, { metadata: { finalizers: [...finalizers, ...others] } });
      await world.patch(MERGE_PATCH, { metadata: { finalizers: null } });
    },
  },
  {
    name: 'a table of a pod with 20 000 statuses holds nobody up',
    async run(world) {
      const count = world.scaled(20_000);
      const names = times(count, (index) => `c${index}`);
      const spec = { initContainers: names.map((name) => ({ name, image: 'i', restartPolicy: 'Always' })) };
      await world.write('POST', PODS, JSON_TYPE, JSON.stringify(podBody('busy', spec)));
      const initContainerStatuses = names.map((name) => ({
        name,
        started: true,
        ready: true,
        restartCount: 1,
        image: 'i',
        imageID: 'i',
      }));
      await world.patch(MERGE_PATCH, { status: { initContainerStatuses } }, `${PODS}/busy/status`);
      const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
      await world.does(world.send({ method: 'GET', path: PODS, headers: { accept } }));
      await world.send({ method: 'DELETE', path: `${PODS}/busy?gracePeriodSeconds=0` });
    },
  },
  ...(
    [
      ['1 400 000 commas', (w) => `[${','.repeat(w.scaled(1_400_000))}]`],
      ['1 400 000 colons', (w) => `{${':'.repeat(w.scaled(1_400_000))}}`],
      ['1 400 000 brackets', (w) => '['.repeat(w.scaled(1_400_000))],
      ['1 000 000 dashes', (w) => '- '.repeat(w.scaled(1_000_000))],
      ['300 000 lines of dashes', (w) => '-\n'.repeat(w.scaled(300_000))],
      ['500 000 question marks', (w) => '? '.repeat(w.scaled(500_000))],
      ['300 000 anchors', (w) => times(w.scaled(300_000), (i) => `- &a${i} x`).join('\n')],
      ['300 000 aliases', (w) => `- &a x\n${'- *a\n'.repeat(w.scaled(300_000))}`],
      ['300 000 comments', (w) => '# x\n'.repeat(w.scaled(300_000))],
      ['3 000 000 spaces', (w) => `a: ${' '.repeat(w.scaled(3_000_000))}b`],
      ['1 000 000 line breaks in a string', (w) => `a: "${'\n'.repeat(w.scaled(1_000_000))}"`],
      ['1 000 000 escapes', (w) => `a: "${'\\n'.repeat(w.scaled(1_000_000))}"`],
      ['600 000 documents', (w) => '---\n'.repeat(w.scaled(600_000))],
      ['a folded text of 500 000 lines', (w) => `a: >\n${'  x\n'.repeat(w.scaled(500_000))}`],
      ['100 000 keys', (w) => times(w.scaled(100_000), (i) => `k${i}: v`).join('\n')],
      ['100 000 equal keys', (w) => 'k: v\n'.repeat(w.scaled(100_000))],
      ['3 000 000 characters', (w) => 'x'.repeat(w.scaled(3_000_000))],
    ] satisfies [string, (world: SeedWorld) => string][]
  ).map(([what, make]) => ({
    name: `YAML of ${what} holds nobody up`,
    async run(world: SeedWorld) {
      const answer = await world.write('POST', DEPLOYMENTS, YAML_TYPE, make(world));
      if (answer.text.length > MAX_ANSWER) throw new Error(`an answer of ${answer.text.length} bytes`);
      await world.patch(APPLY_PATCH, make(world), `${VICTIM}?fieldManager=f`);
      await world.write('DELETE', `${DEPLOYMENTS}/none`, YAML_TYPE, make(world));
    },
  })),
  {
    name: '40 copies of the spec into itself are refused at the bound',
    async run(world) {
      const copies = times(40, (index) => ({ op: 'copy', from: '/spec', path: `/spec/x${index}` }));
      await world.refuses(world.patch(JSON_PATCH, copies));
    },
  },
  {
    name: 'copies of a large text are refused at the bound',
    async run(world) {
      const text = { op: 'add', path: '/metadata/annotations', value: { a: 'x'.repeat(200_000) } };
      const copies = times(9000, (index) => ({
        op: 'copy',
        from: '/metadata/annotations/a',
        path: `/metadata/annotations/b${index}`,
      }));
      await world.refuses(world.patch(JSON_PATCH, [text, ...copies]));
    },
  },
  {
    name: 'copies of many small things are refused at the bound, or done',
    async run(world) {
      const list = { op: 'add', path: '/spec/list', value: times(world.scaled(20_000), () => ({})) };
      const copies = times(9000, (index) => ({ op: 'copy', from: '/spec/list', path: `/spec/l${index}` }));
      await world.refuses(world.patch(JSON_PATCH, [list, ...copies]));
    },
  },
  {
    name: '10 000 operations on a long list hold nobody up',
    async run(world) {
      const list = { op: 'add', path: '/spec/list', value: times(world.scaled(100_000), () => 1) };
      const rounds = times(4500, () => [
        { op: 'add', path: '/spec/list/0', value: 1 },
        { op: 'remove', path: '/spec/list/1' },
      ]).flat();
      await world.patch(JSON_PATCH, [list, ...rounds]);
      const tests = times(9000, () => ({ op: 'test', path: '/spec/list', value: 1 }));
      await world.patch(JSON_PATCH, [list, ...tests]);
      const moves = times(9000, () => ({ op: 'move', from: '/spec/list/0', path: '/spec/list/-' }));
      await world.patch(JSON_PATCH, [list, ...moves]);
    },
  },
  {
    name: 'tests of a large value hold nobody up',
    async run(world) {
      const value = times(world.scaled(20_000), () => 1);
      const list = { op: 'add', path: '/spec/list', value };
      const copy = { op: 'copy', from: '/spec/list', path: '/spec/other' };
      const tests = times(20, () => ({ op: 'test', path: '/spec/other', value }));
      await world.patch(JSON_PATCH, [list, copy, ...tests]);
    },
  },
  {
    name: 'more than 10 000 operations are refused',
    run: (world) =>
      world.refuses(
        world.patch(
          JSON_PATCH,
          times(10_001, () => ({ op: 'test', path: '/kind', value: 'Deployment' })),
        ),
        '10000',
      ),
  },
  {
    name: 'an object that grows with every patch is stopped',
    async run(world) {
      for (let round = 0; round < 8; round++) {
        const containers = [{ name: 'c', env: [{ name: `BIG_${round}`, value: 'x'.repeat(600_000) }] }];
        const answer = await world.patch(STRATEGIC_PATCH, podWith({ containers }));
        if (answer.status === 413) return;
        if (answer.status !== 200) throw new Error(describe(answer));
      }
      throw new Error('it has grown to 5 MB');
    },
  },
  {
    name: 'long addresses and headers are refused',
    async run(world) {
      for (const length of [20_000, 100_000, 1_000_000]) {
        const path = `${DEPLOYMENTS}?labelSelector=${'a,'.repeat(length / 2)}a`;
        const sent = world.send({ method: 'GET', path });
        await (length > 64 * 1024 ? refusesOrCloses(world, sent) : sent);
      }
      const headers = { 'x-long': 'x'.repeat(200_000) };
      await refusesOrCloses(world, world.send({ method: 'GET', path: VICTIM, headers }));
    },
  },
  {
    name: 'a body beyond the limit is refused, whatever it says of its length',
    async run(world) {
      const body = Buffer.alloc(8 * 1024 * 1024, 0x20);
      await refusesOrCloses(world, world.write('POST', PODS, JSON_TYPE, body));
    },
  },
  {
    name: 'a selector of 60 000 characters holds nobody up',
    async run(world) {
      const terms = times(10_000, (index) => `!k${index % 10}`).join(',');
      await world.send({ method: 'GET', path: `${DEPLOYMENTS}?labelSelector=${encodeURIComponent(terms)}` });
      const spaces = `a${' '.repeat(10_000)}b`;
      await world.send({ method: 'GET', path: `${DEPLOYMENTS}?labelSelector=${encodeURIComponent(spaces)}` });
      await world.send({ method: 'GET', path: `${DEPLOYMENTS}?labelSelector=${'('.repeat(20_000)}` });
    },
  },
  {
    name: 'a pod template that is wrong in 50 000 places is refused in a short text',
    async run(world) {
      const containers = times(world.scaled(50_000), (index) => ({ name: `Bad Name ${index}`, image: '' }));
      const body = JSON.stringify(aDeployment('wrong', { template: aTemplate('wrong', { containers }) }));
      const answer = await world.write('POST', DEPLOYMENTS, JSON_TYPE, body);
      if (answer.text.length > MAX_ANSWER) throw new Error(`an answer of ${answer.text.length} bytes`);
    },
  },
];
