// Finds the tests that a change can reach, by the packages and the test code that they import. This is plain Node 20,
// and needs nothing from node_modules.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './workspaces.mjs';
import { needsOf, textsReachedFrom } from './test-suites.mjs';

/** Prose and pictures concern no test, but for tests that read documents and name them in their text. */
const PROSE = /\.(md|png|svg|txt)$/;

/**
 * @param changed paths from the root, of files that were changed, added or deleted
 * @param files the test files to choose from
 * @param packages each package's name, by its folder's, with the names of the packages that it depends on
 * @returns those of `files` that the change can reach; all of them where it is a change of what all stand on
 */
export function affectedTests({ changed, files, packages }) {
  const reached = withDependents(
    new Set(changed.map(packageOf).filter((name) => packages.has(name))),
    packages,
  );
  const others = changed.filter((file) => !packages.has(packageOf(file)) && !isSpec(file));
  const shared = others.filter((file) => !/^(test|examples|bench|docs)\//.test(file) && !PROSE.test(file));
  if (shared.length > 0) return files;
  const specs = new Set(changed.filter(isSpec));
  const names = others.map(nameOf);
  return files.filter((file) => {
    if (specs.has(file)) return true;
    const texts = readsOf(file);
    if (names.some((name) => texts.some((text) => text.includes(name)))) return true;
    return reached.size > 0 && [...packagesOf(file, texts, packages)].some((name) => reached.has(name));
  });
}

/** The packages of the workspace, for {@link affectedTests}. */
export function packagesOfWorkspace() {
  const { dependencies, workspaces } = readManifest('.');
  const own = (names) =>
    Object.keys(names ?? {})
      .filter((name) => name.startsWith('@rollkeeper/'))
      .map((name) => name.replace('@rollkeeper/', ''));
  const entries = workspaces.map((folder) => {
    const manifest = readManifest(folder);
    return [folder.replace('src/', ''), own({ ...manifest.dependencies, ...manifest.peerDependencies })];
  });
  return new Map([...entries, ['rollkeeper', own(dependencies)]]);
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
}

/** `client` for what is in it and no test of it; undefined for everything else. */
function packageOf(file) {
  return isSpec(file) ? undefined : /^src\/([^/]+)\//.exec(file)?.[1];
}

/** As it is written where it is imported or read. */
function nameOf(file) {
  return file.split('/').at(-1).replace(/\.ts$/, '.js');
}

function isSpec(file) {
  return /\.(spec|test)\.ts$/.test(file);
}

function withDependents(names, packages) {
  const all = new Set(names);
  for (const name of all)
    for (const [other, dependencies] of packages) if (dependencies.includes(name)) all.add(other);
  return all;
}

/**
 * The packages whose code a test runs: the one that it lies in, those that it imports, and all of them if it runs the
 * built program.
 */
function packagesOf(file, texts, packages) {
  if (needsOf([file]).has('build')) return new Set(packages.keys());
  const imported = texts.flatMap((text) =>
    [/(?:src|@rollkeeper)\/([a-z]+)/g, /\.\.\/([a-z]+)\//g].flatMap((names) =>
      [...text.matchAll(names)].map(([, name]) => name),
    ),
  );
  const home = /^src\/([^/]+)\//.exec(file)?.[1];
  return new Set([...imported, ...(home ? [home] : [])].filter((name) => packages.has(name)));
}

function readsOf(file) {
  const path = join(ROOT, file);
  return existsSync(path) ? textsReachedFrom(path, new Set()) : [];
}
