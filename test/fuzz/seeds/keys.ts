import type { Seed, SeedWorld } from './seed.js';
import {
  aDeployment,
  podBody,
  aTemplate,
  APPLY_PATCH,
  DEPLOYMENTS,
  JSON_PATCH,
  JSON_TYPE,
  MERGE_PATCH,
  PODS,
  STRATEGIC_PATCH,
  VICTIM,
  YAML_TYPE,
} from './seed.js';

/** Names that every JavaScript object seems to have; the first is no name of an annotation, the others are. */
const NAMES = ['constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', 'isPrototypeOf'];
const PATCHES = [MERGE_PATCH, STRATEGIC_PATCH];

/** A JSON object with one key, which may be `__proto__`. */
const only = (key: string, value: unknown): string => `{${JSON.stringify(key)}:${JSON.stringify(value)}}`;

async function annotations(world: SeedWorld): Promise<Record<string, string>> {
  const object = (await world.server.call('GET', VICTIM)) as {
    metadata: { annotations?: Record<string, string> };
  };
  return object.metadata.annotations ?? {};
}

async function expectAnnotations(world: SeedWorld, wanted: Readonly<Record<string, string>>): Promise<void> {
  const found = await annotations(world);
  for (const [key, value] of Object.entries(wanted)) {
    if (!Object.hasOwn(found, key) || found[key] !== value)
      throw new Error(`annotation ${key} is ${JSON.stringify(found[key])}, not ${value}`);
  }
}

export const KEY_SEEDS: readonly Seed[] = [
  {
    name: 'patches of __proto__ at the top, in metadata and in annotations touch nobody else',
    async run(world) {
      for (const type of PATCHES) {
        const polluted = { polluted: 'yes', deep: { polluted: 'yes' } };
        for (const body of [
          only('__proto__', polluted),
          `{"metadata":${only('__proto__', polluted)}}`,
          `{"metadata":{"annotations":${only('__proto__', polluted)}}}`,
          `{"metadata":{"annotations":${only('__proto__', 'x')}}}`,
          `{"spec":{"template":{"spec":${only('__proto__', polluted)}}}}`,
          `{"constructor":{"prototype":${JSON.stringify(polluted)}}}`,
          `{"spec":{"constructor":{"prototype":${JSON.stringify(polluted)}}}}`,
        ]) {
          await world.patch(type, body);
        }
      }
      for (const path of [
        '/__proto__/polluted',
        '/metadata/__proto__/polluted',
        '/constructor/prototype/polluted',
      ]) {
        await world.patch(JSON_PATCH, [{ op: 'add', path, value: 'yes' }]);
        await world.patch(JSON_PATCH, [{ op: 'copy', from: '/kind', path }]);
      }
      const fresh = (await world.server.call('GET', VICTIM)) as Record<string, unknown>;
      if ('polluted' in fresh) throw new Error('the object is polluted');
    },
  },
  ...PATCHES.map((type) => ({
    name: `annotations named like what every object has are stored, with their siblings: ${type}`,
    async run(world: SeedWorld) {
      const wanted: Record<string, string> = { before: '1' };
      for (const name of NAMES) wanted[name] = `of ${name}`;
      wanted['after'] = '2';
      await world.does(world.patch(type, { metadata: { annotations: wanted } }));
      await expectAnnotations(world, wanted);
      const changed = Object.fromEntries(Object.keys(wanted).map((name) => [name, 'changed']));
      await world.does(world.patch(type, { metadata: { annotations: changed } }));
      await expectAnnotations(world, changed);
    },
  })),
  {
    name: 'a JSON patch walks its path, whatever the names on it',
    async run(world) {
      await world.does(
        world.patch(JSON_PATCH, [{ op: 'add', path: '/metadata/annotations', value: { a: 'b' } }]),
      );
      for (const name of NAMES) {
        const path = `/metadata/annotations/${name}`;
        await world.does(world.patch(JSON_PATCH, [{ op: 'add', path, value: 'x' }]));
        await world.does(world.patch(JSON_PATCH, [{ op: 'test', path, value: 'x' }]));
        await world.does(world.patch(JSON_PATCH, [{ op: 'replace', path, value: name }]));
      }
      await expectAnnotations(world, Object.fromEntries(NAMES.map((name) => [name, name])));
      for (const name of NAMES) {
        const path = `/metadata/annotations/${name}`;
        await world.does(world.patch(JSON_PATCH, [{ op: 'remove', path }]));
        await world.refuses(world.patch(JSON_PATCH, [{ op: 'remove', path }]));
      }
    },
  },
  {
    name: 'an apply owns entries named like what every object has',
    async run(world) {
      const wanted = Object.fromEntries(NAMES.map((name) => [name, 'mine']));
      const path = `${VICTIM}?fieldManager=fuzz&force=true`;
      const config = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { annotations: wanted } };
      await world.does(world.patch(APPLY_PATCH, config, path));
      await expectAnnotations(world, wanted);
      const less = { ...config, metadata: { annotations: { constructor: 'mine' } } };
      await world.does(world.patch(APPLY_PATCH, less, path));
      const left = Object.keys(await annotations(world)).filter((name) => NAMES.includes(name));
      if (left.join() !== 'constructor') throw new Error(`left are ${left.join()}`);
    },
  },
  ...[JSON_TYPE, YAML_TYPE].map((type) => ({
    name: `a map whose keys nobody checks keeps __proto__ as a key: ${type}`,
    async run(world: SeedWorld) {
      const attributes = `{"__proto__":"p","constructor":"c","kept":"k"}`;
      const volume = `{"name":"v","csi":{"driver":"d","volumeAttributes":${attributes}}}`;
      const body = JSON.stringify(podBody('keys')).replace(
        '"containers"',
        `"volumes":[${volume}],"containers"`,
      );
      const created = await world.does(world.write('POST', PODS, type, body));
      if (!created.text.includes('"__proto__":"p"')) throw new Error(`__proto__ is lost: ${created.text}`);
      const again = await world.does(world.send({ method: 'GET', path: `${PODS}/keys` }));
      if (!again.text.includes('"__proto__":"p"')) throw new Error(`__proto__ was not stored: ${again.text}`);
      await world.does(world.send({ method: 'DELETE', path: `${PODS}/keys` }));
    },
  })),
  {
    name: 'selectors, queries and kinds of those names select, ask for and find nothing',
    async run(world) {
      for (const name of ['__proto__', ...NAMES]) {
        await world.refuses(world.send({ method: 'GET', path: `${DEPLOYMENTS}?fieldSelector=${name}%3Dx` }));
        await world.send({ method: 'GET', path: `${DEPLOYMENTS}?labelSelector=${name}` });
        await world.send({ method: 'GET', path: `${DEPLOYMENTS}?${name}=1&limit=${name}` });
        await world.send({ method: 'GET', path: `/apis/${name}/${name}/${name}/${name}/${name}` });
        await world.send({ method: 'GET', path: `/api/v1/namespaces/${name}/${name}/${name}/${name}` });
        await world.send({ method: 'PATCH', path: VICTIM, headers: { 'content-type': name }, body: '{}' });
        await world.send({
          method: 'GET',
          path: VICTIM,
          headers: { accept: `application/json;as=${name};g=${name}` },
        });
        await world.send({ method: 'GET', path: `/openapi/v3/${name}` });
      }
      const labelled = await world.does(
        world.send({ method: 'GET', path: `${DEPLOYMENTS}?labelSelector=constructor` }),
      );
      if ((JSON.parse(labelled.text) as { items: unknown[] }).items.length > 0)
        throw new Error('everything has a label named constructor');
    },
  },
  {
    name: 'a selector whose keys every object seems to have matches only who has them',
    async run(world) {
      const matchLabels = { constructor: 'a', toString: 'b' };
      const wrong = {
        ...aDeployment('inherits'),
        spec: { selector: { matchLabels }, template: aTemplate('x') },
      };
      await world.refuses(
        world.write('POST', DEPLOYMENTS, JSON_TYPE, JSON.stringify(wrong)),
        'does not match',
      );
    },
  },
];
