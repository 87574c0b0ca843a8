import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { publishOrder } from '../../scripts/lib/publish-order.mjs';
import { ROOT } from '../image/dockerfile.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly workspaces?: readonly string[];
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
const product = manifestOf('.');
const workspaces = product.workspaces ?? [];
/** Needed by who runs the contract suites: docs/adr/0018. */
const LEFT_TO_USERS = ['vitest', 'fast-check'];
/** Imported by scripts/lib/setup.mjs. */
const PUBLIC = ['@rollkeeper/machinery/process/memory-environment'];
/** Loaded by a library that is imported: by pino, and by Nest. */
const NOT_IMPORTED = ['pino-pretty', 'rxjs'];
/** Its types alone; Nest's platform brings it. */
const TYPES_ONLY = ['express'];

/**
 * The files that the build compiles: those that its configuration names, and those that these import of their own
 * package.
 */
const BUILT_FILES = withRelativeImports(
  ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(ROOT, 'tsconfig.build.json'), (path) => ts.sys.readFile(path)).config,
    ts.sys,
    ROOT,
  ).fileNames,
);

function withRelativeImports(files: readonly string[]): string[] {
  const all = new Set(files);
  for (const file of all)
    for (const specifier of importsIn(file).filter((each) => each.startsWith('.')))
      all.add(join(file, '..', specifier.replace(/\.js$/, '.ts')));
  return [...all];
}

function importsIn(file: string): string[] {
  return ts
    .preProcessFile(readFileSync(file, 'utf8'), true, true)
    .importedFiles.map(({ fileName }) => fileName);
}

/** `@nestjs/common` of `@nestjs/common/interfaces`. */
const packageIn = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

function specifiersOf(folder: string): string[] {
  return BUILT_FILES.filter((file) => file.startsWith(`${join(ROOT, folder)}/`))
    .flatMap(importsIn)
    .filter((specifier) => !specifier.startsWith('.') && !isBuiltin(specifier));
}

const importedBy = new Map([...workspaces, 'src/rollkeeper'].map((folder) => [folder, specifiersOf(folder)]));

describe.each(workspaces)('the package %s', (folder) => {
  const { dependencies = {}, exports, peerDependencies = {}, version } = manifestOf(folder);

  it('has the version of the product, and takes its sisters in the same', () => {
    expect(version).toBe(product.version);
    const sisters = Object.entries({ ...dependencies, ...peerDependencies }).filter(([name]) =>
      name.startsWith('@rollkeeper/'),
    );
    expect(sisters.filter(([, wanted]) => wanted !== version)).toEqual([]);
  });

  it('imports no file of another package by its path, where the packed package has none', () => {
    const own = `${join(ROOT, folder)}/`;
    const outside = BUILT_FILES.filter((file) => file.startsWith(own)).flatMap((file) =>
      importsIn(file)
        .filter((each) => each.startsWith('.') && !join(file, '..', each).startsWith(own))
        .map((each) => `${file}: ${each}`),
    );
    expect(outside).toEqual([]);
  });

  it('declares what it imports', () => {
    const declared = new Set([...Object.keys({ ...dependencies, ...peerDependencies }), ...LEFT_TO_USERS]);
    const imported = new Set((importedBy.get(folder) ?? []).map(packageIn));
    expect([...imported].filter((name) => !declared.has(name))).toEqual([]);
  });

  it('declares nothing that it does not import', () => {
    const imported = new Set((importedBy.get(folder) ?? []).map(packageIn));
    const declared = Object.keys({ ...dependencies, ...peerDependencies });
    expect(declared.filter((name) => !imported.has(name) && !NOT_IMPORTED.includes(name))).toEqual([]);
  });

  it('exports modules that are there, and, but for types and what the launcher needs, that another package imports', () => {
    const entries = Object.entries(exports).filter(([, target]) => typeof target !== 'string');
    // The place of a pattern is its folder.
    const placeOf = (target: unknown) =>
      ((target as Record<string, string>)['rollkeeper:source'] ?? '').replace(/\*\.ts$/, '');
    const missing = entries.filter(([, target]) => !existsSync(join(ROOT, folder, placeOf(target))));
    expect(missing).toEqual([]);
    const everywhere = new Set([...importedBy.values()].flat());
    const name = folder.replace('src/', '@rollkeeper/');
    const unused = entries
      .map(([entry]) => entry)
      .filter(
        (entry) => entry !== '.' && !entry.startsWith('./types/') && !PUBLIC.includes(name + entry.slice(1)),
      )
      .filter((entry) => !everywhere.has(name + entry.slice(1)));
    expect(unused).toEqual([]);
  });
});

it('the package for `npm create rollkeeper` has the version of the product, and takes the product in the same', () => {
  const { dependencies, version } = manifestOf('create-rollkeeper');
  expect({ version, rollkeeper: dependencies?.['rollkeeper'] }).toEqual({
    version: product.version,
    rollkeeper: product.version,
  });
});

it('every package is published, and after those that it depends on', () => {
  const names = publishOrder().map(({ name }) => name);
  const folders = [...workspaces, '.', 'create-rollkeeper'];
  expect(names.toSorted()).toEqual(folders.map((folder) => manifestOf(folder).name).toSorted());
  for (const { dependencies, name } of folders.map(manifestOf))
    for (const needed of Object.keys(dependencies ?? {}).filter((each) => names.includes(each)))
      expect(names.indexOf(needed), `${needed} before ${name}`).toBeLessThan(names.indexOf(name));
});

it('the product declares what it imports', () => {
  const { dependencies = {}, peerDependencies = {} } = product;
  const declared = new Set([...Object.keys({ ...dependencies, ...peerDependencies }), ...TYPES_ONLY]);
  const imported = new Set((importedBy.get('src/rollkeeper') ?? []).map(packageIn));
  expect([...imported].filter((name) => !declared.has(name))).toEqual([]);
});
