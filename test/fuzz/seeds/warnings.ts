import type { Seed, SeedWorld } from './seed.js';
import { aDeployment, DEPLOYMENTS, JSON_TYPE, MERGE_PATCH, times, VICTIM } from './seed.js';

const UNKNOWN_FIELDS: readonly (readonly [what: string, field: string])[] = [
  ['a control character', 'a\u0001b'],
  ['a line break', 'a\r\nSet-Cookie: x=y'],
  ['a null character', 'a\u0000b'],
  ['letters of other alphabets', 'поле字段é'],
  ['a lone surrogate', 'a\ud800b'],
  ['an emoji', 'a😀b'],
  ['quotes and backslashes', 'a"b\\c'],
  ['a delete character', 'a\u007fb\u0085c'],
  ['100 000 characters', 'x'.repeat(100_000)],
  ['no characters', ''],
];

/** A write that was stored must be answered as stored. */
async function writesAndSays(world: SeedWorld, fields: readonly string[]): Promise<void> {
  const spec = Object.fromEntries(fields.map((field) => [field, 1]));
  const body = JSON.stringify(aDeployment('warned', spec));
  const created = await world.does(world.write('POST', DEPLOYMENTS, JSON_TYPE, body));
  if (created.status !== 201) throw new Error(`answered ${created.status}`);
  await world.does(world.patch(MERGE_PATCH, { spec: { ...spec, replicas: 2 } }));
  await world.does(world.send({ method: 'DELETE', path: `${DEPLOYMENTS}/warned` }));
}

export const WARNING_SEEDS: readonly Seed[] = [
  ...UNKNOWN_FIELDS.map(([what, field]) => ({
    name: `an unknown field whose name has ${what} is warned of, and written`,
    run: (world: SeedWorld) => writesAndSays(world, [field]),
  })),
  {
    name: 'ten thousand unknown fields make no endless headers',
    run: (world) =>
      writesAndSays(
        world,
        times(10_000, (index) => `unknown${index}`),
      ),
  },
  {
    name: 'a strict reading of ten thousand unknown fields is refused in a short text',
    async run(world) {
      const spec = Object.fromEntries(times(10_000, (index) => [`unknown${index}`, 1]));
      const body = JSON.stringify(aDeployment('strict', spec));
      const sent = world.write('POST', `${DEPLOYMENTS}?fieldValidation=Strict`, JSON_TYPE, body);
      await world.refuses(sent, 'unknown0');
      const patch = world.patch(MERGE_PATCH, { spec }, `${VICTIM}?fieldValidation=Strict`);
      await world.refuses(patch, 'unknown0');
    },
  },
  {
    name: 'the same key ten thousand times is told in a short text',
    async run(world) {
      const body = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{${times(10_000, () => '"name":"x"').join()}}}`;
      const answer = await world.write('POST', DEPLOYMENTS, JSON_TYPE, body);
      if (answer.text.length > 100_000) throw new Error(`${answer.text.length} characters`);
    },
  },
];
