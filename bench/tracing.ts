import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Deployment } from '../src/kubernetes/index.js';
import { DEPLOYMENTS } from '../src/kubernetes/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import { aDeployment } from '../test/e2e/support/a-deployment.js';
import { OtlpReceiver } from '../test/e2e/support/otlp-receiver.js';
import { Up } from '../test/e2e/support/up.js';

/** What tracing costs: the CPU of all processes for the same rollouts, with spans sent and without, in turns. */
const { values } = parseArgs({
  options: {
    deployments: { type: 'string', default: '30' },
    pods: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '4' },
  },
});
const names = Array.from({ length: Number(values.deployments) }, (_, index) => `bench-${index}`);
const pods = Number(values.pods);
const TICKS_PER_SECOND = 100;

const receiver = await OtlpReceiver.start({ decodesLater: true });
const off: number[] = [];
const on: number[] = [];
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    off.push(await measure({ OTEL_SDK_DISABLED: 'true' }));
    on.push(await measure({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }));
  }
} finally {
  await receiver.stop();
}
receiver.decodeAll();
const without = meanOf(off);
const withSpans = meanOf(on);
const overhead = (round: number): number => (on[round]! / off[round]! - 1) * 100;
console.log(
  `${names.length} Deployments x ${pods} pods, rolled out three times, ${off.length} rounds each in turns`,
);
console.log(`CPU without tracing: ${without.toFixed(2)} s (${off.map((s) => s.toFixed(2)).join(', ')})`);
console.log(`CPU with tracing:    ${withSpans.toFixed(2)} s (${on.map((s) => s.toFixed(2)).join(', ')})`);
console.log(
  `${receiver.spans.length} spans received; overhead ${((withSpans / without - 1) * 100).toFixed(1)} % ` +
    `(by round: ${off.map((_, round) => overhead(round).toFixed(1)).join(', ')})`,
);

/** Not the best of them: from one set of processes to the next the same work costs up to 10 % more or less. */
function meanOf(rounds: readonly number[]): number {
  return rounds.reduce((sum, seconds) => sum + seconds, 0) / rounds.length;
}

/** CPU seconds of API server, nodes and replicas for three rollouts, once they have warmed up. */
async function measure(env: NodeJS.ProcessEnv): Promise<number> {
  const up = await Up.start({ env });
  const client = await up.client();
  try {
    const { apiServer, nodes, replicas } = await up.status();
    const pids = [apiServer?.pid, nodes?.pid, ...replicas.map(({ pid }) => pid)].filter(
      (pid) => pid !== undefined,
    );
    const cpu = (): number => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    await Promise.all(names.map((name) => client.create(DEPLOYMENTS, aDeployment({ name, replicas: pods }))));
    await rolledOut();
    // Five times before anything is counted: what a process spends on compiling its own code is no cost of tracing.
    for (const image of ['web:2', 'web:3', 'web:4', 'web:5', 'web:6']) await rollOut(image);
    const before = cpu();
    for (const image of ['web:7', 'web:8', 'web:9']) await rollOut(image);
    return cpu() - before;
  } finally {
    await client.close();
    await up.stopAndRemove();
  }

  async function rollOut(image: string): Promise<void> {
    const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
    const patch = { type: 'strategic', body } as const;
    await Promise.all(names.map((name) => client.patch(DEPLOYMENTS, { namespace: 'default', name }, patch)));
    await rolledOut();
  }

  function rolledOut(): Promise<unknown> {
    const isDone = ({ metadata, status }: Deployment): boolean =>
      status?.observedGeneration === metadata.generation &&
      [status?.replicas, status?.updatedReplicas, status?.availableReplicas].every((count) => count === pods);
    return waitFor(
      async () => (await client.list<Deployment>(DEPLOYMENTS, { namespace: 'default' })).items.every(isDone),
      { timeoutMs: 300_000, intervalMs: 50, what: 'the rollouts' },
    );
  }
}

/** User and system time of a process, from the 14th and 15th field of its `stat`. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
