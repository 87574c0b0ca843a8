import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { CustomKind, Kind } from '@rollkeeper/runtime';
import { isCustomKind } from '@rollkeeper/runtime';
import { withDefinition } from '@rollkeeper/runtime/operator/custom-kind';
import { structuralSchemaOf } from '@rollkeeper/runtime/operator/structural-schema';
import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import type * as TypeScript from 'typescript';
import type { ModuleExports } from '../exports-of-modules.js';
import { isDefinition, kindFacts, schemaKeywords } from './doc-tags.js';
import type { Compiler } from './load-compiler.js';
import { loadCompiler } from './load-compiler.js';
import { TypeSchemas } from './schema-of-type.js';

const SOURCE = /\.[cm]?tsx?$/;
const DEFINITION_TAG = /@crd\b/;
/** The fields of every object; the server knows them. */
const OF_OBJECTS = ['apiVersion', 'kind', 'metadata'];
const OPTIONS: TypeScript.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  experimentalDecorators: true,
};

/**
 * The kinds of a module that are made by `defineKind` of an interface with the tag `@crd`, with the definition that its types and
 * comments say. A module of JavaScript has none.
 * @throws InvalidOptionError naming the field that no definition can say, or what to install
 */
export function interfaceKinds(path: string, exported: ModuleExports): readonly CustomKind[] {
  if (!SOURCE.test(path) || plainKindsIn(exported).size === 0) return [];
  const ts = compilerFor(path);
  return ts ? kindsOfProgram(programOf(ts, path), { ts, path, exported }) : [];
}

interface KindSource {
  readonly ts: Compiler;
  readonly path: string;
  readonly exported: ModuleExports;
}

/** The same by a program that has the module. */
export function kindsOfProgram(
  program: TypeScript.Program,
  { exported, path, ts }: KindSource,
): readonly CustomKind[] {
  const kinds = plainKindsIn(exported);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(resolve(path));
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) return [];
  return checker.getExportsOfModule(module).flatMap((symbol) => {
    const kind = kinds.get(symbol.name);
    const type = kind && objectTypeOf(ts, checker, symbol);
    return kind && type ? customKind(kind, type, new TypeSchemas(ts, program)) : [];
  });
}

function plainKindsIn(exported: ModuleExports): ReadonlyMap<string, Kind> {
  return new Map(Object.entries(exported).filter((entry): entry is [string, Kind] => isPlainKind(entry[1])));
}

/** Undefined if there is none, and nothing in the module asks for it. */
function compilerFor(path: string): Compiler | undefined {
  try {
    return loadCompiler(path);
  } catch (error) {
    if (DEFINITION_TAG.test(readFileSync(path, 'utf8'))) throw error;
    return undefined;
  }
}

/** The module and all that it imports, as its project compiles them. */
export function programOf(ts: Compiler, module: string): TypeScript.Program {
  const path = resolve(module);
  const file = ts.findConfigFile(path, (each) => ts.sys.fileExists(each));
  const read = file
    ? ts.getParsedCommandLineOfConfigFile(
        file,
        {},
        { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
      )
    : undefined;
  const base = read?.options ?? { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 };
  // Options for building a project are left out, such as its references to others.
  return ts.createProgram([path], { ...base, ...OPTIONS, composite: false, incremental: false });
}

/** T of an exported `Kind<T>`. */
function objectTypeOf(
  ts: Compiler,
  checker: TypeScript.TypeChecker,
  symbol: TypeScript.Symbol,
): TypeScript.Type | undefined {
  const target = (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol;
  const kind = checker.getTypeOfSymbol(target);
  const [object] =
    kind.getSymbol()?.name === 'Kind' ? checker.getTypeArguments(kind as TypeScript.TypeReference) : [];
  return object;
}

function customKind(kind: Kind, type: TypeScript.Type, schemas: TypeSchemas): CustomKind | [] {
  const symbol = type.aliasSymbol ?? type.symbol;
  const doc = schemas.docOf(symbol);
  if (!isDefinition(doc)) return [];
  if (kind.group === '')
    throw new InvalidOptionError('kind.group', `of ${kind.kind} must be a domain of yours`);
  const { properties, required } = schemas.fieldsOf(type, '', OF_OBJECTS);
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, structuralSchemaOf(schema, name)] as const,
  );
  return withDefinition(kind, {
    ...kindFacts(doc, kind.kind),
    ...schemaKeywords(doc, kind.kind, true),
    properties: Object.fromEntries(fields),
    required,
  });
}

function isPlainKind(value: unknown): value is Kind {
  if (!isJsonObject(value) || isCustomKind(value)) return false;
  const { group, kind, namespaced, part, resource, version } = value;
  return (
    [group, kind, resource, version].every((each) => typeof each === 'string') &&
    typeof namespaced === 'boolean' &&
    part === undefined
  );
}
