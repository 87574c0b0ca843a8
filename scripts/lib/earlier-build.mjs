// Another version of the product, built out of the history.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runQuietly, say, tryOutput } from './run.mjs';
import { ROOT } from './setup.mjs';

/**
 * The commit of the last release: its tag, or the commit that says so.
 * @throws Error where the history does not reach back to one
 */
export function lastRelease() {
  const git = (...args) => tryOutput('git', ['-C', ROOT, ...args])?.trim();
  const found =
    git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^') ??
    git('log', '--grep=^chore: release', '--format=%H', '--max-count=1', 'HEAD^');
  if (!found) throw new Error('the history reaches back to no release; fetch all of it');
  return found;
}

/**
 * Builds what `ref` names, once, and answers the folder of its program (`dist`) and its version. It runs on the dependencies that
 * stand here where its own are the same, and on its own otherwise.
 * @throws Error when it cannot be built
 */
export function earlierBuild(ref, node) {
  const commit = tryOutput('git', ['-C', ROOT, 'rev-parse', '--verify', `${ref}^{commit}`])?.trim();
  if (!commit) throw new Error(`${ref} is not in the history`);
  const folder = join(ROOT, 'node_modules', '.cache', 'earlier', commit.slice(0, 12));
  if (!existsSync(folder)) build(commit, folder, node);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return { dist: join(folder, 'dist'), version, commit };
}

function build(commit, folder, node) {
  say(`building ${commit.slice(0, 12)} (once)`);
  // Elsewhere: below a node_modules folder, the compiler takes it for a package, whose types cannot be named.
  const half = mkdtempSync(join(tmpdir(), 'rollkeeper-earlier-'));
  const must = (command, args) => {
    const env = { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` };
    if (!runQuietly(command, args, { cwd: half, env })) throw new Error(`${command} ${args[0]} failed`);
  };
  must('sh', ['-c', `git -C '${ROOT}' archive ${commit} | tar -xf -`]);
  const [theirs, ours] = [half, ROOT].map((root) =>
    JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')),
  );
  const hasSame = JSON.stringify(theirs.dependencies) === JSON.stringify(ours.dependencies);
  // The packages of a workspace are links in node_modules, to the sources beside it.
  if (hasSame && !theirs.workspaces) symlinkSync(join(ROOT, 'node_modules'), join(half, 'node_modules'));
  else must('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  must('npm', ['run', 'build']);
  mkdirSync(dirname(folder), { recursive: true });
  // It may be another disk.
  must('mv', [half, folder]);
}
