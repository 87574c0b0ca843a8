import { setTimeout as sleep } from 'node:timers/promises';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../../test/e2e/support/a-deployment.js';
import { Up } from '../../test/e2e/support/up.js';
import { setImage, watchDeployments } from './deployments.js';
import { cpuSeconds } from './process-figures.js';
import { isRolledOut } from './rollout-world.js';

/** A leader that was paused for as long leads on: a failover would be part of what is measured. */
const UNHURRIED = ['--', '--lease-duration-ms', '600000', '--renew-deadline-ms', '500000'];

/** CPU seconds since the start of the processes. */
export interface CpuOfSet {
  /** API server, nodes and replicas. */
  readonly ours: number;
  /** It makes no spans: what it needs more says how slow the machine is, and how much the processes hinder each other. */
  readonly redis: number;
}

/** A `rollkeeper up` with Deployments to roll out, whose CPU is looked at. */
export interface MeasuredUp {
  /** Gives every Deployment the image, one every so many milliseconds, and waits until all have rolled out. */
  rollOut(image: string, everyMs: number): Promise<void>;
  cpu(): CpuOfSet;
  /** Stops every process of the set where it is, so that another one has the machine to itself. */
  pause(): void;
  resume(): void;
  /** Paused or not; nothing pauses it any more. */
  stop(): Promise<void>;
}

export interface MeasuredUpOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly deployments: number;
  readonly pods: number;
}

export async function startMeasuredUp({ deployments, env, pods }: MeasuredUpOptions): Promise<MeasuredUp> {
  const names = Array.from({ length: deployments }, (_, index) => `bench-${index}`);
  const up = await Up.start({ env, args: UNHURRIED });
  const client = await up.client();
  const { apiServer, nodes, redis, replicas } = await up.status();
  const ours = [apiServer, nodes, ...replicas].map((process) => pidOf(process?.pid));
  const redisPid = pidOf(redis?.pid);
  let stopping = false;
  const signalAll = (signal: NodeJS.Signals): void => {
    if (!stopping) [up.pid, redisPid, ...ours].forEach((pid) => process.kill(pid, signal));
  };
  const watched = await watchDeployments(client);

  const rolledOut = async (image: string): Promise<void> => {
    const all = (): boolean => {
      const known = watched.list();
      return known.length === names.length && known.every((deployment) => isRolledOut(deployment, image));
    };
    await waitFor(all, { timeoutMs: 300_000, intervalMs: 20, what: 'the rollouts' });
  };
  await Promise.all(names.map((name) => client.create(Deployment, aDeployment({ name, replicas: pods }))));
  await rolledOut('web:1');

  return {
    async rollOut(image, everyMs) {
      const begin = async (name: string, index: number): Promise<void> => {
        if (everyMs > 0) await sleep(index * everyMs);
        await setImage(client, name, image);
      };
      await Promise.all(names.map(begin));
      await rolledOut(image);
    },
    cpu: () => ({
      ours: ours.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
      redis: cpuSeconds(redisPid),
    }),
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async stop() {
      signalAll('SIGCONT');
      stopping = true;
      await watched.stop();
      await client.close();
      await up.stopAndRemove();
    },
  };
}

function pidOf(pid: number | null | undefined): number {
  if (pid === null || pid === undefined) throw new Error('a process of the set is not running');
  return pid;
}
