import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { RedisStorage, writeKubeconfig } from '../src/api-server/index.js';
import { readCredentials } from '../src/app/supervisor/credentials.js';
import { SystemClock } from '../src/base/clock/index.js';
import { DEPLOYMENTS } from '../src/base/kubernetes/index.js';
import { silentLogger } from '../src/base/logging/index.js';
import { createHttpApiClient, loadKubeconfig } from '../src/kit/api-client/index.js';
import { startTestRedisServer } from '../src/testing/redis-server.js';
import { waitFor } from '../src/testing/wait-for.js';
import { ManagedProcess } from '../test/chaos/set/managed-process.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { setImage, watchDeployments } from './support/deployments.js';
import { cpuSeconds, forgetPeak, memoryOf } from './support/process-figures.js';
import { isRolledOut } from './support/rollout-world.js';
import { steadyCluster } from './support/steady-cluster.js';

/*
 * What memory one replica, the API server and the simulated nodes have: with nothing to do, at the peak of rollouts, and with many
 * pods in their caches. Every figure on processes of its own; environments are compared in turns.
 */

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    deployments: { type: 'string', default: '50' },
    pods: { type: 'string', default: '10' },
    /** Deployments of so many pods each that have rolled out before the processes start. */
    cached: { type: 'string', default: '2000' },
    /** Until a process that is ready has settled. */
    'idle-seconds': { type: 'string', default: '15' },
    /** Variables of the environment, `NAME=value NAME=value`; again for another environment to compare. */
    env: { type: 'string', multiple: true, default: [''] },
    main: { type: 'string', default: join(import.meta.dirname, '..', 'dist', 'main.js') },
  },
});
const [deployments, pods, cached] = [values.deployments, values.pods, values.cached].map(Number) as [
  number,
  number,
  number,
];
const ROLES = ['controller', 'apiserver', 'node'] as const;
type Role = (typeof ROLES)[number];
type Figures = Map<string, number[]>;

const results = values.env.map((env) => ({ env, figures: new Map() as Figures }));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const { env, figures } of results) {
    await measureRollouts(env, figures);
    if (cached > 0) await measureCaches(env, figures);
  }
}
for (const { env, figures } of results) print(env, figures);

async function measureRollouts(env: string, figures: Figures): Promise<void> {
  const set = await ProcessSet.start(env);
  try {
    await set.add('node');
    note(figures, 'start to ready, nothing cached (s)', await set.addReplica());
    await sleep(Number(values['idle-seconds']) * 1000);
    for (const role of ROLES) noteMemory(figures, `${role} idle`, set.pidOf(role));
    const rollOut = await set.deploy();
    const before = ROLES.map((role) => cpuSeconds(set.pidOf(role)));
    for (const role of ROLES) forgetPeak(set.pidOf(role));
    await rollOut('web:2');
    for (const [index, role] of ROLES.entries()) {
      const pid = set.pidOf(role);
      note(figures, `${role} rolling ${deployments} x ${pods} out, peak (MiB)`, memoryOf(pid).peak);
      note(
        figures,
        `${role} rolling ${deployments} x ${pods} out, CPU (s)`,
        cpuSeconds(pid) - (before[index] ?? 0),
      );
    }
  } finally {
    await set.stop();
  }
}

async function measureCaches(env: string, figures: Figures): Promise<void> {
  const set = await ProcessSet.start(env, { filled: true });
  const what = `${cached * pods} pods`;
  try {
    note(figures, `start to ready, ${what} (s)`, await set.addReplica());
    note(figures, `controller CPU until ready, ${what} (s)`, cpuSeconds(set.pidOf('controller')));
    await set.add('node');
    await sleep(Number(values['idle-seconds']) * 1000);
    for (const role of ROLES) noteMemory(figures, `${role} with ${what}`, set.pidOf(role));
    note(figures, `controller with ${what}, peak (MiB)`, memoryOf(set.pidOf('controller')).peak);
  } finally {
    await set.stop();
  }
}

function noteMemory(figures: Figures, what: string, pid: number): void {
  const { own, resident } = memoryOf(pid);
  note(figures, `${what} (MiB)`, resident);
  note(figures, `${what}, without files (MiB)`, own);
}

function note(figures: Figures, what: string, figure: number): void {
  figures.set(what, [...(figures.get(what) ?? []), figure]);
}

function print(env: string, figures: Figures): void {
  console.log(
    `\n${env === '' ? 'as it comes' : env}; median, and from least to most of ${values.rounds} (load ${loadavg()[0]?.toFixed(1)})`,
  );
  for (const [what, all] of figures) {
    const sorted = [...all].sort((a, b) => a - b);
    const digits = what.endsWith('(s)') ? 2 : 0;
    const [median = 0, least = 0, most = 0] = [
      sorted[Math.floor(sorted.length / 2)],
      sorted[0],
      sorted.at(-1),
    ];
    console.log(
      `  ${what.padEnd(58)} ${[median, least, most].map((each) => each.toFixed(digits).padStart(7)).join(' ')}`,
    );
  }
}

/** Redis, an API server, and what is added to them, each a process. */
class ProcessSet {
  private readonly dir = mkdtempSync(join(tmpdir(), 'rollkeeper-memory-'));
  private readonly processes = new Map<Role, ManagedProcess>();
  private readonly stops: (() => Promise<unknown>)[] = [];

  private constructor(
    private readonly env: NodeJS.ProcessEnv,
    private readonly redis: Awaited<ReturnType<typeof startTestRedisServer>>,
  ) {}

  /** @param filled with objects before the API server starts */
  static async start(env: string, { filled = false } = {}): Promise<ProcessSet> {
    const set = new ProcessSet(
      Object.fromEntries(env.split(' ').flatMap((each) => (each ? [splitOnce(each)] : []))),
      await startTestRedisServer(),
    );
    if (filled) await set.fill();
    await set.add('apiserver', ['--port', '0', '--data-dir', set.dir, '--redis-url', set.redis.url]);
    const server = set.processes.get('apiserver')?.url ?? '';
    await writeKubeconfig({ path: set.kubeconfig, server, ...(await readCredentials(set.dir)) });
    return set;
  }

  async add(role: Role, args: readonly string[] = ['--kubeconfig', this.kubeconfig]): Promise<void> {
    const { dir, env } = this;
    const logFile = join(dir, `${role}.log`);
    const added = new ManagedProcess({ name: role, main: values.main, args: [role, ...args], env, logFile });
    this.processes.set(role, added);
    await added.start();
  }

  /** Seconds until it is ready. */
  async addReplica(): Promise<number> {
    const startedMs = performance.now();
    await this.add('controller', ['--kubeconfig', this.kubeconfig, '--redis-url', this.redis.url]);
    const readyz = `${this.processes.get('controller')?.adminUrl}/readyz`;
    const isReady = async (): Promise<boolean> =>
      (await fetch(readyz).catch(() => undefined))?.status === 200;
    await waitFor(isReady, { timeoutMs: 120_000, intervalMs: 10, what: 'the replica to be ready' });
    return (performance.now() - startedMs) / 1000;
  }

  /** Creates Deployments that roll out; the answer rolls them out to another image. */
  async deploy(): Promise<(image: string) => Promise<void>> {
    const clock = new SystemClock();
    const connection = await loadKubeconfig({ path: this.kubeconfig, clock });
    const client = createHttpApiClient({ connection, clock, logger: silentLogger, userAgent: 'bench' });
    const watched = await watchDeployments(client);
    this.stops.push(() => watched.stop().then(() => client.close()));
    const names = Array.from({ length: deployments }, (_, index) => `web-${index}`);
    const rolledOut = (image: string): Promise<boolean> =>
      waitFor(
        () =>
          watched.list().length === names.length && watched.list().every((each) => isRolledOut(each, image)),
        { timeoutMs: 300_000, intervalMs: 20, what: 'the rollouts' },
      );
    await Promise.all(names.map((name) => client.create(DEPLOYMENTS, aDeployment({ name, replicas: pods }))));
    await rolledOut('web:1');
    return async (image) => {
      await Promise.all(names.map((name) => setImage(client, name, image)));
      await rolledOut(image);
    };
  }

  pidOf(role: Role): number {
    return this.processes.get(role)?.pid ?? 0;
  }

  async stop(): Promise<void> {
    for (const stop of this.stops) await stop();
    for (const each of [...this.processes.values()].reverse()) await each.stop();
    await this.redis.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  private get kubeconfig(): string {
    return join(this.dir, 'kubeconfig');
  }

  private async fill(): Promise<void> {
    const storage = new RedisStorage({
      url: this.redis.url,
      clock: new SystemClock(),
      commandTimeoutMs: 60_000,
    });
    const filled = new AbortController();
    const running = storage.run(filled.signal);
    await storage.replaceAll(steadyCluster({ deployments: cached, pods, nodes: 3 }));
    filled.abort();
    await running;
  }
}

function splitOnce(assignment: string): [string, string] {
  const at = assignment.indexOf('=');
  return [assignment.slice(0, at), assignment.slice(at + 1)];
}
