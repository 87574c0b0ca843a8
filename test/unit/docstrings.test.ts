import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { ROOT } from '../image/dockerfile.js';

interface Exported {
  /** From the root, with the name: `src/runtime/index.ts createManager`. */
  readonly place: string;
  readonly isDocumented: boolean;
}

const SOURCE = 'rollkeeper:source';
const doorsOf = (folder: string): string[] => {
  const { exports } = readJson(join(ROOT, folder, 'package.json')) as { exports: Record<string, unknown> };
  return Object.values(exports).flatMap((target) => {
    const path = typeof target === 'object' && (target as Record<string, string>)[SOURCE];
    // The generated types of a pattern are Kubernetes' own.
    return path && !path.includes('*') ? [join(ROOT, folder, path)] : [];
  });
};

const parsed = new Map<string, ts.SourceFile>();
function parse(file: string): ts.SourceFile {
  const before = parsed.get(file);
  if (before) return before;
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext, true);
  parsed.set(file, source);
  return source;
}

/** The file of a module of ours; undefined for a library. */
function fileOf(importer: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(importer), specifier.replace(/\.js$/, '.ts'));
  const [, name = '', entry = ''] = /^@rollkeeper\/([a-z]+)(\/.*)?$/.exec(specifier) ?? [];
  if (name === '') return undefined;
  const folder = join(ROOT, 'src', name);
  const { exports } = readJson(join(folder, 'package.json')) as {
    exports: Record<string, Record<string, string>>;
  };
  const path = exports[`.${entry}`]?.[SOURCE];
  return path === undefined ? undefined : join(folder, path);
}

const known = new Map<string, ReadonlyMap<string, Exported>>();
/** The exports of a module, its own and those of others, by name. Names of libraries are left out. */
function exportsOf(file: string): ReadonlyMap<string, Exported> {
  const before = known.get(file);
  if (before) return before;
  const exported = readExportsOf(file);
  known.set(file, exported);
  return exported;
}

function readExportsOf(file: string): ReadonlyMap<string, Exported> {
  const found = new Map<string, Exported>();
  const add = (name: string, exported: Exported | undefined): void => {
    if (!exported) return;
    // A name may be a type and a value: one comment is for both.
    const isDocumented = exported.isDocumented || (found.get(name)?.isDocumented ?? false);
    found.set(name, { ...exported, isDocumented });
  };
  const source = parse(file);
  for (const statement of source.statements) {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement;
      const from = moduleSpecifier && ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : undefined;
      const target = from === undefined ? undefined : fileOf(file, from);
      if (!exportClause) for (const [name, each] of target ? exportsOf(target) : []) add(name, each);
      else if (ts.isNamedExports(exportClause))
        for (const { name, propertyName } of exportClause.elements) {
          const original = (propertyName ?? name).text;
          const exported = target
            ? (exportsOf(target).get(original) ?? declaredIn(target, original))
            : from === undefined
              ? declaredIn(file, original)
              : undefined;
          add(name.text, exported);
        }
    } else if (isExported(statement))
      for (const name of namesOf(statement)) add(name, described(statement, file, name));
  }
  return found;
}

/** A declaration that is exported by another statement. */
function declaredIn(file: string, name: string): Exported | undefined {
  const statements = parse(file).statements.filter((each) => namesOf(each).includes(name));
  const all = statements.map((statement) => described(statement, file, name));
  return all.find(({ isDocumented }) => isDocumented) ?? all[0];
}

function described(statement: ts.Statement, file: string, name: string): Exported {
  const comments = ts.getJSDocCommentsAndTags(statement).filter(ts.isJSDoc);
  const isDocumented = comments.some(
    ({ comment }) => (ts.getTextOfJSDocComment(comment) ?? '').trim() !== '',
  );
  return { place: `${relative(ROOT, file)} ${name}`, isDocumented };
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => bindingsIn(name));
  const { name } = statement as { name?: ts.Node };
  return name && ts.isIdentifier(name) ? [name.text] : [];
}

function bindingsIn(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((each) => (ts.isBindingElement(each) ? bindingsIn(each.name) : []));
}

const read = new Map<string, unknown>();
function readJson(path: string): unknown {
  if (!read.has(path)) read.set(path, JSON.parse(readFileSync(path, 'utf8')));
  return read.get(path);
}

it('every export of a door of the kit says what it is', () => {
  const doors = doorsOf('.').filter(existsSync);
  expect(doors.length).toBeGreaterThan(8);
  const all = doors.flatMap((door) => [...exportsOf(door).values()]);
  expect(all.length).toBeGreaterThan(400);
  const undocumented = all.filter(({ isDocumented }) => !isDocumented).map(({ place }) => place);
  expect([...new Set(undocumented)].sort()).toEqual([]);
});
