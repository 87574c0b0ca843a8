// The sources of another revision, as one module that a simulated world loads beside its own (test/simulation/versions).
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { LEFT_OUT, bundleSources } from './bundle-sources.mjs';
import { runQuietly, tryOutput } from './run.mjs';
import { ROOT } from './setup.mjs';

const DOOR = 'test/simulation/versions/door.ts';
/** A revision without the door gets ours, with what that needs of the revision's tests. */
const WITH_DOOR = ['src/testing/simulation/replica.ts'];
/** Made by a build, and the same for every revision that has the same types. */
const GENERATED = 'src/machinery/generated';
/** The packages that a replica consists of, and the compiler's options. Files are read where they are: scripts, for example. */
const NEEDED = [
  ...['client', 'controllers', 'machinery', 'redis', 'runtime', 'tls'].map((name) => `src/${name}`),
  ...['src/testing/simulation', 'package.json', 'tsconfig.json', ':(exclude)*.spec.ts'],
];

const git = (...args) => tryOutput('git', ['-C', ROOT, ...args]);

/** @throws Error where the history does not have it */
function commitOf(ref) {
  const commit = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)?.trim();
  if (!commit) throw new Error(`${ref} is not in the history`);
  return commit;
}

/**
 * The newest tag of a release that has the door; if there is none, the commit before this one.
 * @throws Error where the history does not reach back to it
 */
export function earlierRevision() {
  const tags = git('tag', '--list', 'v[0-9]*', '--sort=-v:refname', '--merged', 'HEAD^')?.split('\n') ?? [];
  const found = tags.find((tag) => tag !== '' && git('cat-file', '-e', `${tag}:${DOOR}`) !== undefined);
  return found ?? commitOf('HEAD^');
}

/**
 * Puts the sources of a revision into a folder of their own, and bundles them. They run on the dependencies that stand here.
 * @param patches of its files: `from`, which occurs once, becomes `to`
 * @returns the bundle, the commit, whether it has the door itself, and how to remove all of it
 * @throws Error if it is not in the history, or cannot be loaded
 */
export async function loadableVersion(ref, { patches = [] } = {}) {
  const commit = commitOf(ref);
  const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-beside-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    if (
      !runQuietly('sh', [
        '-c',
        `git -C '${ROOT}' archive ${commit} -- ${quoted(NEEDED)} | tar -xf - -C '${folder}'`,
      ])
    )
      throw new Error(`the sources of ${commit} cannot be read`);
    const hasDoor = placeDoor(commit, folder);
    if (!existsSync(join(folder, GENERATED))) symlinkSync(join(ROOT, GENERATED), join(folder, GENERATED));
    linkPackages(folder);
    for (const patch of patches) applyPatch(folder, patch);
    const module = join(folder, 'replica.mjs');
    // Dependencies are those that are installed here.
    const nodePaths = [join(ROOT, 'node_modules')];
    await bundleSources(DOOR, module, { root: folder, logLevel: 'silent', nodePaths });
    return { module, commit, hasDoor, remove };
  } catch (error) {
    await remove();
    const why = `${ref} (${commit.slice(0, 12)}) cannot be loaded beside this version: ${error.message}`;
    throw new Error(why, { cause: error });
  }
}

function placeDoor(commit, folder) {
  const text = git('show', `${commit}:${DOOR}`);
  const place = join(folder, DOOR);
  mkdirSync(dirname(place), { recursive: true });
  if (text !== undefined) writeFileSync(place, text);
  else
    for (const file of [DOOR, ...WITH_DOOR]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      copyFileSync(join(ROOT, file), join(folder, file));
    }
  return text !== undefined;
}

function quoted(words) {
  return words.map((word) => `'${word}'`).join(' ');
}

/** Its own packages, and those that its bundle leaves out. */
function linkPackages(folder) {
  const own = join(folder, 'node_modules', '@rollkeeper');
  mkdirSync(own, { recursive: true });
  for (const name of LEFT_OUT) {
    const installed = join(ROOT, 'node_modules', name);
    if (existsSync(installed)) symlinkSync(installed, join(folder, 'node_modules', name));
  }
  for (const entry of readdirSync(join(folder, 'src'))) {
    const file = join(folder, 'src', entry, 'package.json');
    if (!existsSync(file)) continue;
    const [scope, name] = JSON.parse(readFileSync(file, 'utf8')).name.split('/');
    if (scope === '@rollkeeper' && name) symlinkSync(dirname(file), join(own, name));
  }
}

function applyPatch(folder, { file, from, to }) {
  const place = join(folder, file);
  const [before, after, ...more] = readFileSync(place, 'utf8').split(from);
  if (after === undefined || more.length > 0)
    throw new Error(`the text to replace does not occur once in ${file}`);
  writeFileSync(place, `${before}${to}${after}`);
}
