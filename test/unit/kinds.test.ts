import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as kinds from '../../src/machinery/kubernetes/kinds.js';
import { ROOT } from '../image/dockerfile.js';

const HOME = /^src\/machinery\/kubernetes\/(built-in-)?kinds\.ts$/;
/** The API server declares each version that it serves, with its rules. */
const SERVED = /^src\/apiserver\//;
const TESTS = /\.(spec|fixture)\.ts$|^src\/testing\/|\/template\//;

const KINDS = new Set(Object.values(kinds).map(({ group, kind }) => `${kind}.${group}`));

/** The kinds of the object literals that have a group, a version and a kind. */
function declaredKinds(source: string): string[] {
  const shared = new Map(
    [...source.matchAll(/const (\w+) = \{ group: '([^']*)', version: '\w+'/g)].map(([, name, group]) => [
      name,
      group,
    ]),
  );
  return [...source.matchAll(/\{([^{}]*)\}/g)].flatMap(([, fields = '']) => {
    const kind = /\bkind: '(\w+)'/.exec(fields)?.[1];
    const spread = /\.\.\.([A-Z_]+)\b/.exec(fields)?.[1];
    const group = /\bgroup: '([^']*)'/.exec(fields)?.[1] ?? (spread && shared.get(spread));
    return kind !== undefined && group !== undefined ? [`${kind}.${group}`] : [];
  });
}

it('the declaration of a kind is found, with and without a group that several kinds share', () => {
  expect(declaredKinds("defineKind({ group: 'a.b', version: 'v1', kind: 'Car' })")).toEqual(['Car.a.b']);
  const shared = "const OWN = { group: 'a.b', version: 'v1' };\nconst CAR = { ...OWN, kind: 'Car' };";
  expect(declaredKinds(shared)).toEqual(['Car.a.b']);
});

it('each built-in kind is declared once, in src/machinery/kubernetes', () => {
  const files = execFileSync('git', ['ls-files', 'src'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const product = files.filter(
    (file) => file.endsWith('.ts') && ![HOME, SERVED, TESTS].some((pattern) => pattern.test(file)),
  );
  const again = product.flatMap((file) =>
    declaredKinds(readFileSync(join(ROOT, file), 'utf8'))
      .filter((kind) => KINDS.has(kind))
      .map((kind) => `${file}: ${kind}`),
  );
  expect(again).toEqual([]);
});
