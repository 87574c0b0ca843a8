import { readdirSync } from 'node:fs';
import type { Descriptions, GoFacts, ObjectSchema, SchemaRegistry } from './object-schema.js';
import { PreviewLayer } from './previewed-schemas.js';
import type { PreviewedSchemas } from './previewed-schemas.js';
import { readGenerated } from './read-generated.js';

const GENERATED = new URL('generated/', import.meta.url);

/**
 * The generated schemas, and those that are put there while the server runs. A file is read when a schema of its group and
 * version is first asked for.
 * @param previews laid over the generated ones
 */
export function createSchemaRegistry(previews: readonly PreviewedSchemas[] = []): SchemaRegistry {
  const layer = new PreviewLayer(previews);
  const types = new PackageFiles<ObjectSchema>('types');
  const facts = new PackageFiles<GoFacts>('go');
  const descriptions = new PackageFiles<Descriptions>('descriptions');
  const added = new Map<string, ObjectSchema>();
  return {
    get: (name) => layer.get(name, types.get(name)) ?? added.get(name),
    goFacts: (name) => facts.get(name) ?? layer.goFacts(name) ?? {},
    describe: (name) => layer.describe(name, descriptions.get(name) ?? {}),
    get names() {
      return [...types.names(), ...layer.names, ...added.keys()];
    },
    put: (name, schema) => void added.set(name, schema),
    remove: (name) => void added.delete(name),
  };
}

/** One folder of generated files, each with the entries of one package (`io.k8s.api.apps.v1.json`). */
class PackageFiles<T> {
  private readonly folder: URL;
  private readonly read = new Map<string, Readonly<Record<string, T>> | undefined>();
  private readonly packages: ReadonlySet<string>;
  /** By full name: each write asks for its kind's. */
  private readonly found = new Map<string, T>();

  constructor(name: string) {
    this.folder = new URL(`${name}/`, GENERATED);
    this.packages = new Set(readdirSync(this.folder).map((file) => file.replace(/\.json$/, '')));
  }

  get(name: string): T | undefined {
    const known = this.found.get(name);
    if (known) return known;
    const entry = this.entry(name);
    if (entry) this.found.set(name, entry);
    return entry;
  }

  private entry(name: string): T | undefined {
    const at = name.lastIndexOf('.');
    const entries = this.contents(name.slice(0, at));
    const key = name.slice(at + 1);
    return entries && Object.hasOwn(entries, key) ? entries[key] : undefined;
  }

  names(): string[] {
    return [...this.packages]
      .sort()
      .flatMap((name) => Object.keys(this.contents(name) ?? {}).map((key) => `${name}.${key}`));
  }

  private contents(name: string): Readonly<Record<string, T>> | undefined {
    if (!this.packages.has(name)) return undefined;
    let entries = this.read.get(name);
    if (!entries) {
      entries = readGenerated<Record<string, T>>(new URL(`${name}.json`, this.folder));
      this.read.set(name, entries);
    }
    return entries;
  }
}
