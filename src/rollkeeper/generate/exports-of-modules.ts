import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import { assertNamedFile } from '@rollkeeper/machinery/files';
import type { CustomKind, PolicyRule, ResourceType } from '@rollkeeper/runtime';
import { RIGHTS, definitionOf, isCustomKind, qualifiedResource } from '@rollkeeper/runtime';

/** The exports of a module of an operator. */
export type ModuleExports = Readonly<Record<string, unknown>>;

/** Loads modules by their paths; TypeScript as Node runs it. @throws InvalidOptionError naming the one that fails */
export async function modulesOf(paths: readonly string[]): Promise<readonly ModuleExports[]> {
  const modules: ModuleExports[] = [];
  for (const path of paths) {
    try {
      await assertNamedFile(path);
      modules.push((await import(pathToFileURL(resolve(path)).href)) as ModuleExports);
    } catch (error) {
      throw new InvalidOptionError('module', `${path}: ${errorMessage(error)}`, { cause: error });
    }
  }
  return modules;
}

/**
 * A definition for each custom kind that is exported; of several versions, the newest one is stored (v2, v1, v1beta2, v1alpha1).
 * @param storage by `kind.group`, another stored version
 * @throws InvalidOptionError where there is none, or no such version
 */
export function definitionsIn(
  modules: readonly ModuleExports[],
  storage: ReadonlyMap<string, string> = new Map(),
): readonly ReturnType<typeof definitionOf>[] {
  const byName = new Map<string, CustomKind[]>();
  for (const kind of new Set(exportsOf(modules).filter(isCustomKind))) {
    const name = `${kind.kind}.${kind.group}`;
    byName.set(name, [...(byName.get(name) ?? []), kind]);
  }
  if (byName.size === 0)
    throw new InvalidOptionError(
      'module',
      'exports no kind made by defineCustomKind, or by defineKind of an interface with the tag @crd',
    );
  const stranger = [...storage.keys()].find((name) => !byName.has(name));
  if (stranger !== undefined) throw new InvalidOptionError('storage', `there is no kind ${stranger}`);
  return [...byName].map(([name, versions]) => {
    const sorted = versions.toSorted((a, b) => rankOf(b.version) - rankOf(a.version));
    const wanted = storage.get(name) ?? sorted[0]?.version;
    const stored = sorted.find(({ version }) => version === wanted);
    if (!stored) throw new InvalidOptionError('storage', `${name} has no version ${wanted}`);
    return definitionOf(stored, ...sorted.filter((each) => each !== stored));
  });
}

/** The rules of all controllers that are exported. @throws InvalidOptionError where there is none */
export function rightsIn(modules: readonly ModuleExports[]): readonly PolicyRule[] {
  const controllers = exportsOf(modules).filter(hasRights);
  if (controllers.length === 0)
    throw new InvalidOptionError(
      'module',
      'exports no controller: none made by defineController, and no class with @Reconciles',
    );
  return controllers.flatMap((controller) => controller[RIGHTS]());
}

interface HasRights {
  readonly [RIGHTS]: () => readonly PolicyRule[];
}

/** A class of Nest has them as a static property. */
function hasRights(value: unknown): value is HasRights {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && RIGHTS in value;
}

/** The names of the definitions that exported webhooks convert. */
export function convertedIn(modules: readonly ModuleExports[]): readonly string[] {
  return exportsOf(modules).flatMap((value) => {
    const { convert, kind }: { convert?: unknown; kind?: ResourceType } = value ?? {};
    return Array.isArray(convert) && convert.length > 0 && kind?.resource !== undefined
      ? [qualifiedResource(kind)]
      : [];
  });
}

/** Lists that are exported count as what they hold. */
function exportsOf(modules: readonly ModuleExports[]): readonly unknown[] {
  return modules.flatMap((module) => Object.values(module)).flatMap((value): unknown => value);
}

/** As Kubernetes orders versions: stable ones before beta and alpha, higher numbers first. */
function rankOf(version: string): number {
  const [, major = '0', stage = '', minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+)?)?$/.exec(version) ?? [];
  const stages: Readonly<Record<string, number>> = { '': 2, beta: 1, alpha: 0 };
  return (stages[stage] ?? 0) * 1e6 + Number(major) * 1e3 + Number(minor);
}
