import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { operatorNames } from './operator-names.js';
import type { AskedNames } from './operator-names.js';
import { operatorPackage } from './operator-package.js';
import type { ProductManifest } from './operator-package.js';
import { renderFile } from './render-template.js';
import type { TemplateFile, TemplatePart } from './render-template.js';

const TEMPLATE = fileURLToPath(new URL('./template', import.meta.url));
const PRODUCT = fileURLToPath(new URL('../../../../package.json', import.meta.url));
const OUR_PACKAGE = /^rollkeeper(?:-([a-z]+))?-\d+\.\d+\.\d+(?:\D.*)?\.tgz$/;

export interface NewOperator extends AskedNames {
  /** It is made where nothing is yet, or an empty folder. */
  readonly directory: string;
  readonly hasWebhook: boolean;
  /** A folder with the packages as files, which are copied along. @default they come from the registry */
  readonly packages?: string;
}

/**
 * Writes a new operator's files. Resolves with their paths, from the working directory.
 * @throws InvalidOptionError naming the option
 */
export async function writeOperator(asked: NewOperator): Promise<string[]> {
  const names = operatorNames(asked);
  await assertEmpty(asked.directory);
  const vendored = await vendoredPackages(asked.packages);
  const parts = new Set<TemplatePart>();
  if (asked.hasWebhook) parts.add('webhook');
  if (vendored.size > 0) parts.add('vendor');
  const product = JSON.parse(await readFile(PRODUCT, 'utf8')) as ProductManifest;
  const options = { names, parts, nodeVersion: product.devDependencies['node'] ?? process.versions.node };
  const files = (await templateFiles()).flatMap((file) => renderFile(file, options) ?? []);
  const inProject = new Map([...vendored].map(([name, file]) => [name, `vendor/${file}`] as const));
  const manifest = operatorPackage({ names, parts, product, vendored: inProject });
  files.push({ path: 'package.json', text: `${JSON.stringify(manifest, undefined, 2)}\n` });
  for (const { path, text } of files) {
    await mkdir(dirname(join(asked.directory, path)), { recursive: true });
    await writeFile(join(asked.directory, path), text);
  }
  for (const file of vendored.values()) {
    await mkdir(join(asked.directory, 'vendor'), { recursive: true });
    await copyFile(join(asked.packages ?? '', file), join(asked.directory, 'vendor', file));
  }
  return files.map(({ path }) => join(asked.directory, path)).sort();
}

async function assertEmpty(directory: string): Promise<void> {
  const [entry] = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new InvalidOptionError('directory', `${resolve(directory)} cannot be used: ${error.message}`, {
      cause: error,
    });
  });
  if (entry !== undefined)
    throw new InvalidOptionError('directory', `${resolve(directory)} is not empty: ${entry} is there`);
}

/** The files of our packages in a folder, by the names of the packages. */
async function vendoredPackages(folder: string | undefined): Promise<ReadonlyMap<string, string>> {
  if (folder === undefined) return new Map();
  const entries = await readdir(folder).catch((cause: unknown) => {
    throw new InvalidOptionError('packages', `${resolve(folder)} cannot be read`, { cause });
  });
  const found = new Map<string, string>();
  for (const file of entries.sort()) {
    const match = OUR_PACKAGE.exec(file);
    // The chart of a release has the name of a package.
    if (match && match[1] !== 'chart')
      found.set(match[1] === undefined ? 'rollkeeper' : `@rollkeeper/${match[1]}`, file);
  }
  if (!found.has('rollkeeper') || !found.has('@rollkeeper/runtime'))
    throw new InvalidOptionError(
      'packages',
      `${resolve(folder)} has not all of rollkeeper-*.tgz: npm pack makes them`,
    );
  return found;
}

async function templateFiles(): Promise<TemplateFile[]> {
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path) => ({
      path: relative(TEMPLATE, path).split(sep).join('/'),
      text: await readFile(path, 'utf8'),
    })),
  );
}
