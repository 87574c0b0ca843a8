import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../image/dockerfile.js';

/** The parent has the contract, and a list of the children that implement it. */
const CONTRACT_IN_PARENT = [
  'src/apiserver/access/admission',
  'src/apiserver/kinds',
  'src/rollkeeper/insight/diagnose',
];

/** The rooms of a package, from the top: each imports only from those after it. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'src/apiserver': [
    'index.ts',
    'server',
    'documents',
    'objects',
    'http',
    'access',
    'kinds',
    'cel',
    'schema',
    'storage',
  ],
  'src/runtime/operator': ['manager', 'objects', 'define', 'kinds', 'coordination'],
  'src/rollkeeper': ['main.ts', 'doors', 'cli', 'replica', 'admin', 'insight', 'generate', 'terminal'],
};

const NO_PRODUCT = /\.(spec|fixture)\.ts$|\/template\/|\/generated\/|^src\/testing\//;

/** Imports between a folder and one below it, by the parent; those of a door count for no direction. */
function importsByParent(
  sources: ReadonlyMap<string, string>,
): Map<string, { up: string[]; down: string[] }> {
  const found = new Map<string, { up: string[]; down: string[] }>();
  for (const [file, text] of sources)
    for (const [, specifier = ''] of text.matchAll(/from '(\.[^']+)'/g)) {
      const target = join(dirname(file), specifier).replace(/\.js$/, '.ts');
      const [own, other] = [dirname(file), dirname(target)];
      const isDown = other.startsWith(`${own}/`) && !file.endsWith('/index.ts');
      const isUp = own.startsWith(`${other}/`) && !target.endsWith('/index.ts');
      if (!isDown && !isUp) continue;
      const parent = isDown ? own : other;
      const entry = found.get(parent) ?? { up: [], down: [] };
      entry[isDown ? 'down' : 'up'].push(`${file} -> ${target}`);
      found.set(parent, entry);
    }
  return found;
}

it('a folder whose files import from below and are imported from there is found', () => {
  const sources = new Map([
    ['src/a/list.ts', "import { one } from './kinds/one.js';"],
    ['src/a/kinds/one.ts', "import type { Kind } from '../kind.js';"],
    ['src/b/index.ts', "export { one } from './kinds/one.js';"],
    ['src/b/kinds/one.ts', "import type { Kind } from '../kind.js';"],
  ]);
  const both = [...importsByParent(sources)].filter(([, { down, up }]) => down.length > 0 && up.length > 0);
  expect(both.map(([parent]) => parent)).toEqual(['src/a']);
});

function readProduct(): ReadonlyMap<string, string> {
  const listed = execFileSync('git', ['ls-files', 'src'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const files = listed.filter((file) => file.endsWith('.ts') && !NO_PRODUCT.test(file));
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
}

/** Files outside the rooms, and imports of a room above. */
function findMisplaced(
  sources: ReadonlyMap<string, string>,
  folder: string,
  rooms: readonly string[],
): readonly string[] {
  const heightOf = (file: string) => rooms.indexOf(file.slice(folder.length + 1).split('/')[0] ?? '');
  const own = [...sources].filter(([file]) => file.startsWith(`${folder}/`));
  const outside = own.map(([file]) => file).filter((file) => heightOf(file) === -1);
  const upwards = own.flatMap(([file, text]) =>
    [...text.matchAll(/from '(\.[^']+)'/g)]
      .map(([, specifier = '']) => join(dirname(file), specifier).replace(/\.js$/, '.ts'))
      .filter((target) => target.startsWith(`${folder}/`) && heightOf(target) < heightOf(file))
      .map((target) => `${file} -> ${target}`),
  );
  return [...outside, ...upwards];
}

it('a file outside the rooms and an import from a room above are found', () => {
  const sources = new Map([
    ['src/a/top/one.ts', "import { two } from '../bottom/two.js';"],
    ['src/a/bottom/two.ts', "import type { One } from '../top/one.js';"],
    ['src/a/loose.ts', "import { one } from './top/one.js';"],
  ]);
  expect(findMisplaced(sources, 'src/a', ['top', 'bottom'])).toEqual([
    'src/a/loose.ts',
    'src/a/bottom/two.ts -> src/a/top/one.ts',
  ]);
});

it.each(Object.entries(ROOMS))('each room of %s imports only from the rooms below it', (folder, rooms) => {
  expect(findMisplaced(readProduct(), folder, rooms)).toEqual([]);
});

it('a folder and those below it import one way, but where the parent has the contract of its children', () => {
  const sources = readProduct();
  const knots = [...importsByParent(sources)].filter(([, { down, up }]) => down.length > 0 && up.length > 0);
  const known = new Set(CONTRACT_IN_PARENT);
  expect(knots.filter(([parent]) => !known.has(parent))).toEqual([]);
  expect(knots.map(([parent]) => parent).sort()).toEqual(CONTRACT_IN_PARENT);
});
