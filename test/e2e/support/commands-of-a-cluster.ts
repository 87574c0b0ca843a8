import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ConcurrencyLimit } from '../../../src/machinery/concurrency/index.js';
import type { Fault } from '../../support/faulty-port.js';
import { FaultyPort } from '../../support/faulty-port.js';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'dist', 'main.js');

/** Every command that reads or changes a cluster, with arguments that are valid. */
export const COMMANDS_OF_A_CLUSTER: readonly (readonly string[])[] = [
  ['doctor'],
  ['explain', 'deployment/web'],
  ['explain', 'service/web'],
  ['why', 'web-1'],
  ['problems'],
  ['top', '--once'],
  ['plan', '-f', 'web.yaml', '--against', 'live'],
  ['rollout', 'status', 'web'],
  ['rollout', 'wait', 'web'],
  ['rollout', 'history', 'web'],
  ['rollout', 'undo', 'web'],
  ['rollout', 'restart', 'web'],
  ['rollout', 'pause', 'web'],
  ['release', 'status', 'shop-42'],
  ['promote', 'web'],
  ['abort', 'web'],
  ['retry', 'web'],
  ['notifications', 'test'],
  ['experiment', 'list'],
  ['experiment', 'status', 'sizes'],
  ['experiment', 'stop', 'sizes'],
  ['diff', 'web'],
  ['timeline', 'web'],
  ['scale', 'web', '--replicas', '2'],
  ['convert', 'web', '--to', 'rollkeeper.dev/v1'],
  ['generate', 'types', '--from-cluster'],
];

/** A kubeconfig without credentials. */
export function kubeconfigOf(server: string): string {
  return `
clusters: [{ name: it, cluster: { server: '${server}' } }]
users: [{ name: it, user: {} }]
contexts: [{ name: it, context: { cluster: it, user: it } }]
current-context: it
`;
}

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Long after a command that waits for a first answer has given up, and long before one that waits for each answer. */
const GIVEN_UP_AFTER_MS = 25_000;

/** Runs the built program to its end. A status of null: it had to be ended. */
export function runBuilt(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: GIVEN_UP_AFTER_MS };
    const child = execFile(process.execPath, [MAIN, ...args], options, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}

/** Runs every command against a port with a fault, a few at a time, and returns how each ended. */
export async function runAllAgainst(fault: Fault, cwd: string): Promise<ReadonlyMap<string, Ended>> {
  const port = await FaultyPort.start(fault);
  try {
    await writeFile(join(cwd, 'kubeconfig'), kubeconfigOf(port.url), { mode: 0o600 });
    await writeFile(join(cwd, 'web.yaml'), JSON.stringify(WEB));
    const limit = new ConcurrencyLimit(AT_ONCE);
    const env = { PATH: '', KUBECONFIG: join(cwd, 'kubeconfig') };
    const ended = COMMANDS_OF_A_CLUSTER.map((args) =>
      limit.run(async () => [args.join(' '), await runBuilt(args, cwd, env)] as const),
    );
    return new Map(await Promise.all(ended));
  } finally {
    await port.stop();
  }
}

const AT_ONCE = 4;

const WEB = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'app', image: 'web:1' }] },
    },
  },
};

/** Expects of each command one line with the reason, and a documented exit code. `doctor` reports all that it examined. */
export function expectPlainFailures(ended: ReadonlyMap<string, Ended>, says: RegExp): void {
  for (const [command, { status, stderr, stdout }] of ended) {
    if (command === 'doctor') {
      expect({ command, status, stderr }).toEqual({ command, status: 4, stderr: '' });
      expect(stdout).toMatch(/^FAILURE {2}api /);
      expect(stdout).toMatch(/^skipped {2}replicas /m);
    } else {
      expect({ command, status, stdout }).toEqual({ command, status: 1, stdout: '' });
      expect(stderr, command).toMatch(/^rollkeeper: [^\n]+\n$/);
      expect(stderr, command).toMatch(says);
    }
  }
}
