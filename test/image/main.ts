import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import { createHttpApiClient, loadKubeconfig } from '../../src/client/api-client/index.js';
import { freePort } from '../../src/machinery/listening.js';
import { startTestRedisServer } from '../../src/testing/redis-server.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import type { BuiltStage } from './build-stages.js';
import { buildStages, canGiveAway } from './build-stages.js';
import { ownComposeFile, wordsOf } from './compose.js';
import { ownDockerfile, stepsWithBases } from './dockerfile.js';
import type { Image } from './started-image.js';
import { StartedImage } from './started-image.js';
import { readFlags, yes } from '../support/flags.js';

const flags = readFlags('npm run image-check --', {
  twice: yes('build it twice: every file must be the same'),
  keep: yes('keep what was built'),
});
const say = (line: string): void => console.log(line);
const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-image-'));
// The image's user must get in.
chmodSync(folder, 0o755);

/** Every file of an image: its path, and a digest of what it holds. */
function digestsOf({ root }: BuiltStage): Map<string, string> {
  const digests = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) continue;
    const content = entry.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
    digests.set(path.slice(root.length), createHash('sha256').update(content).digest('hex'));
  }
  return digests;
}

function reportSize({ root }: BuiltStage): void {
  const bytes = [...digestsOf({ root, workdir: '', env: {} }).keys()]
    .map((path) => lstatSync(join(root, path)).size)
    .reduce((sum, size) => sum + size, 0);
  const archive = execFileSync('sh', ['-c', `tar -cf - -C "${root}" . | gzip -6 | wc -c`], {
    encoding: 'utf8',
  });
  const mib = (size: number): string => `${(size / 2 ** 20).toFixed(1)} MiB`;
  say(`what the image adds to its base: ${mib(bytes)}, ${mib(Number(archive))} as a gzipped layer`);
}

/** The set of docker-compose.yml, its names and ports replaced by those of this machine. */
async function runSet(image: Image, data: string): Promise<void> {
  const redis = await startTestRedisServer();
  const apiPort = await freePort();
  const { services } = ownComposeFile();
  const here: readonly [string, string][] = [
    ['redis://redis:6379', redis.url],
    ['0.0.0.0', '127.0.0.1'],
    ['16443', String(apiPort)],
    ['apiserver', 'localhost'],
  ];
  const inPlace = (word: string): string =>
    word.startsWith('/data')
      ? data + word.slice('/data'.length)
      : (here.find(([name]) => name === word)?.[1] ?? word);
  const commandOf = (service: string): string[] => {
    const [name = '', ...args] = wordsOf(services[service]?.command);
    return [name, ...args.map(inPlace)];
  };
  const running: StartedImage[] = [];
  const start = (name: string, args: readonly string[]): StartedImage => {
    const started = new StartedImage(image, name, args);
    running.push(started);
    return started;
  };
  const untilHealthy = (started: StartedImage, url: string): Promise<unknown> =>
    waitFor(() => started.isHealthy(url), {
      timeoutMs: 120_000,
      intervalMs: 500,
      what: `${started.name} to be healthy`,
    });
  try {
    const api = start('apiserver', commandOf('apiserver'));
    await untilHealthy(api, `https://127.0.0.1:${apiPort}/readyz`);
    start('node', commandOf('node'));
    for (let index = 0; index < (services['controller']?.deploy?.replicas ?? 0); index++) {
      const port = await freePort();
      const args = commandOf('controller').map((word) => (word === '8080' ? String(port) : word));
      await untilHealthy(start(`controller-${index}`, args), `http://127.0.0.1:${port}/readyz`);
    }
    say(
      `healthy, as ${canGiveAway ? 'the image’s user' : 'this user'}: ${running.map(({ name }) => name).join(', ')}`,
    );
    await rollOut(join(data, 'kubeconfig'));
    const ends = new Map<string, number | null>();
    for (const started of running.reverse()) ends.set(started.name, await started.stop());
    say(`told to stop, they ended with ${[...ends.values()].join(', ')}`);
    if ([...ends.values()].some((code) => code !== 0)) throw new Error('not every process ended well');
  } finally {
    await Promise.all(running.map((started) => started.stop()));
    await redis.stop();
  }
}

async function rollOut(kubeconfig: string): Promise<void> {
  const clock = new SystemClock();
  const connection = await loadKubeconfig({ path: kubeconfig, clock });
  const client = createHttpApiClient({ connection, clock, logger: silentLogger, userAgent: 'image-check' });
  try {
    await client.create(Deployment, aDeployment({ name: 'web', replicas: 3 }));
    await waitFor(
      async () => {
        const { status } = await client.get<Deployment>(Deployment, { namespace: 'default', name: 'web' });
        return status?.availableReplicas === 3;
      },
      { timeoutMs: 60_000, intervalMs: 100, what: 'three pods to be available' },
    );
    say('a Deployment of three pods is available');
  } finally {
    await client.close();
  }
}

/** Takes all rights to write away, as `read_only: true` does, but for the data folder. */
function makeReadOnly({ root }: BuiltStage): string {
  execFileSync('chmod', ['-R', 'a-w,a+rX', root]);
  const data = join(root, 'data');
  chmodSync(data, 0o755);
  return data;
}

try {
  const stages = ownDockerfile();
  const last = stages.at(-1);
  if (!last) throw new Error('the Dockerfile has no stage');
  const built = buildStages(stages, join(folder, 'once'), say);
  reportSize(built);
  if (flags.twice) {
    const [once, again] = [
      digestsOf(built),
      digestsOf(buildStages(stages, join(folder, 'again'), () => undefined)),
    ];
    const differing = [...new Set([...once.keys(), ...again.keys()])].filter(
      (path) => once.get(path) !== again.get(path),
    );
    if (differing.length > 0) throw new Error(`made twice, these differ: ${differing.join(', ')}`);
    say(`made twice, all ${once.size} files are the same`);
  }
  await runSet({ built, steps: stepsWithBases(last, stages) }, makeReadOnly(built));
} finally {
  if (flags.keep) say(`kept ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
