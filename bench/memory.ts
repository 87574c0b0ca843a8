import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deployment } from '../src/machinery/kubernetes/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { number, readFlags, text, texts } from '../test/support/flags.js';
import { setImage, watchDeployments } from './support/deployments.js';
import { cpuSeconds, forgetPeak, memoryOf } from './support/process-figures.js';
import { ProcessSet, ROLES } from './support/process-set.js';
import { isRolledOut } from './support/rollout-world.js';
import { steadyCluster } from './support/steady-cluster.js';

/*
 * Measures the memory of one replica, the API server and the simulated nodes: with nothing to do, at the peak of
 * rollouts, and with many pods in their caches. Every figure has processes of its own, and environments are compared
 * in turns.
 */

const flags = readFlags('npm run bench -- --memory', {
  rounds: number('times that everything is measured', 3),
  deployments: number('Deployments that roll out', 50),
  pods: number('pods of each', 10),
  cached: number('Deployments of so many pods each that have rolled out before the processes start', 2000),
  idleSeconds: number('until a process that is ready has settled', 15),
  env: texts(
    "variables of the environment, 'NAME=value NAME=value'; again for another environment to compare",
    [''],
  ),
  main: text('the program to measure', join(import.meta.dirname, '..', 'dist', 'main.js')),
});
const { cached, deployments, pods } = flags;
type Figures = Map<string, number[]>;

const results = flags.env.map((env) => ({ env, figures: new Map() as Figures }));
for (let round = 0; round < flags.rounds; round++) {
  for (const { env, figures } of results) {
    await measureRollouts(env, figures);
    if (cached > 0) await measureCaches(env, figures);
  }
}
for (const { env, figures } of results) print(env, figures);

async function measureRollouts(env: string, figures: Figures): Promise<void> {
  const set = await ProcessSet.start({ main: flags.main, env: parseEnv(env) });
  try {
    await set.add('node');
    note(figures, 'start to ready, nothing cached (s)', await set.addReplica());
    await sleep(flags.idleSeconds * 1000);
    for (const role of ROLES) noteMemory(figures, `${role} idle`, set.pidOf(role));
    const rollOut = await deploy(set);
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
  const set = await ProcessSet.start({
    main: flags.main,
    env: parseEnv(env),
    objects: steadyCluster({ deployments: cached, pods, nodes: 3 }),
  });
  const what = `${cached * pods} pods`;
  try {
    note(figures, `start to ready, ${what} (s)`, await set.addReplica());
    note(figures, `controller CPU until ready, ${what} (s)`, cpuSeconds(set.pidOf('controller')));
    await set.add('node');
    await sleep(flags.idleSeconds * 1000);
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
    `\n${env === '' ? 'as it comes' : env}; median, and from least to most of ${flags.rounds} (load ${loadavg()[0]?.toFixed(1)})`,
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

/** Creates Deployments that roll out; the answer rolls them out to another image. */
async function deploy(set: ProcessSet): Promise<(image: string) => Promise<void>> {
  const client = await set.client();
  const names = Array.from({ length: deployments }, (_, index) => `web-${index}`);
  const untilRolledOut = async (image: string): Promise<void> => {
    const watched = await watchDeployments(client);
    const rolledOut = (): boolean =>
      watched.list().length === names.length && watched.list().every((each) => isRolledOut(each, image));
    await waitFor(rolledOut, { timeoutMs: 300_000, intervalMs: 20, what: 'the rollouts' });
    await watched.stop();
  };
  await Promise.all(names.map((name) => client.create(Deployment, aDeployment({ name, replicas: pods }))));
  await untilRolledOut('web:1');
  return async (image) => {
    await Promise.all(names.map((name) => setImage(client, name, image)));
    await untilRolledOut(image);
  };
}

/** `NAME=value NAME=value` */
function parseEnv(text: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [, name = '', value] of text.matchAll(/([^ =]+)=([^ ]*)/g)) env[name] = value;
  return env;
}
