import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { exactIntegerTags, isJsonObject } from '@rollkeeper/machinery/kubernetes';

/**
 * YAML or JSON text with any number of documents; a file, or a folder whose `.yaml`, `.yml` and `.json` files are read
 * in the order of their names; an API object; or a list of these.
 */
export type Manifests = string | ManifestFile | URL | ManifestObject | readonly Manifests[];

/** A file with manifests, or a folder of such files. */
export interface ManifestFile {
  readonly file: string;
}

/** The minimum of an object; the server fills in or refuses missing metadata. */
export type ManifestObject = Readonly<Record<string, unknown>> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
};

/** Kinds that the rest of a bundle depends on: applied first, wherever they are. */
const FIRST = ['Namespace', 'CustomResourceDefinition'];

/**
 * The objects of all manifests, lists unfolded: namespaces and definitions first, the others in order.
 * @throws InvalidOptionError naming the file, or the document, that cannot be read
 */
export async function readManifests(manifests: Manifests): Promise<KubernetesObject[]> {
  const objects = await read(manifests, 'manifests');
  const rank = ({ kind }: KubernetesObject): number =>
    FIRST.includes(kind) ? FIRST.indexOf(kind) : FIRST.length;
  return objects.sort((a, b) => rank(a) - rank(b));
}

async function read(manifests: Manifests, name: string): Promise<KubernetesObject[]> {
  if (typeof manifests === 'string') return parse(manifests, name);
  if (manifests instanceof URL) return readPath(fileURLToPath(manifests), name);
  if (Array.isArray(manifests)) {
    const all = manifests.map((each: Manifests, index) => read(each, `${name}[${index}]`));
    return (await Promise.all(all)).flat();
  }
  if (isFile(manifests)) return readPath(manifests.file, name);
  return objectsOf(manifests, name);
}

function isFile(manifests: Manifests): manifests is ManifestFile {
  return typeof (manifests as Partial<ManifestFile> | null)?.file === 'string';
}

async function readPath(path: string, name: string): Promise<KubernetesObject[]> {
  try {
    if (!(await stat(path)).isDirectory()) return parse(await readFile(path, 'utf8'), path);
    const names = (await readdir(path)).filter((file) => /\.(ya?ml|json)$/.test(file)).sort();
    const objects: KubernetesObject[] = [];
    for (const file of names) objects.push(...(await readPath(join(path, file), name)));
    return objects;
  } catch (error) {
    if (error instanceof InvalidOptionError) throw error;
    throw new InvalidOptionError(name, `${path} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

function parse(text: string, name: string): KubernetesObject[] {
  return parseAllDocuments(text, { customTags: exactIntegerTags }).flatMap((document, index) => {
    const place = `${name}, document ${index + 1}`;
    const [error] = document.errors;
    if (error) throw new InvalidOptionError(place, error.message);
    const value: unknown = document.toJS();
    // A separator at the end, or only a comment.
    return value === null ? [] : objectsOf(value, place);
  });
}

function objectsOf(value: unknown, name: string): KubernetesObject[] {
  const object = isJsonObject(value) ? value : {};
  for (const field of ['apiVersion', 'kind'])
    if (typeof object[field] !== 'string') throw new InvalidOptionError(name, `${field} is missing`);
  const { items, metadata } = object;
  if (Array.isArray(items))
    return items.flatMap((item, index) => objectsOf(item, `${name}, item ${index + 1}`));
  if (typeof metadata !== 'object' || metadata === null)
    throw new InvalidOptionError(name, 'metadata is missing');
  return [object as unknown as KubernetesObject];
}
