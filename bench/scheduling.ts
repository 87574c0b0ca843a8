import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { number, numbers, readFlags, text, texts } from '../test/support/flags.js';
import { cpuSecondsOf, memoryOf } from './api/figures.js';
import { HttpConnection, requestText } from './api/http-connection.js';
import { ApiServers } from './api/servers.js';
import { WatchConnection } from './api/watch-connection.js';

/*
 * How many pods a second a scheduler binds through the embedded API server: nodes that are objects only, no controllers and no kubelets. Pods are
 * created while it runs, over several connections; a batch lasts from the first request until the watch has shown the last pod with its node. CPU
 * counts until the Events about the pods are written as well, which schedulers do by and by.
 */
const flags = readFlags('npm run bench -- --scheduling', {
  pods: number('pods of a batch', 2000),
  rounds: number('batches with each number of nodes', 3),
  nodes: numbers('numbers of nodes', [100, 1000]),
  connections: number('over which pods are created', 16),
  program: text('another scheduler, started with --kubeconfig FILE --leader-elect=false'),
  node: texts("an argument of our scheduler's Node, --node=--cpu-prof; again for more", []),
});

const PODS = '/api/v1/namespaces/default/pods';
const EVENTS = '/api/v1/namespaces/default/events';
const MAIN = join(import.meta.dirname, '..', 'dist', 'main.js');
const ZONES = ['a', 'b', 'c'];
const AT_ONCE = '{"gracePeriodSeconds":0}';

const servers = await ApiServers.start({ execArgv: [] });
const connections = await Promise.all(
  Array.from({ length: flags.connections }, () => HttpConnection.open(servers.api)),
);
try {
  let nodes = 0;
  for (const wanted of flags.nodes) {
    await each(wanted - nodes, (index) => ['POST', '/api/v1/nodes', aNode(nodes + index)]);
    nodes = wanted;
    await measure(nodes);
  }
} finally {
  for (const connection of connections) connection.close();
  await servers.stop();
}

async function measure(nodes: number): Promise<void> {
  const scheduler = start();
  const pid = scheduler.pid ?? 0;
  try {
    await batch(`first-${nodes}-`, 1, pid);
    for (let round = 0; round < flags.rounds; round++) {
      const { api, events, own, seconds } = await batch(`batch-${nodes}-${round}-`, flags.pods, pid);
      const rate = Math.round(flags.pods / seconds);
      console.log(
        `${nodes} nodes, ${flags.pods} pods: ${rate}/s; CPU of the scheduler ${own.toFixed(2)} s, of the API server ${api.toFixed(2)} s; ${events} Events; ${memoryOf(pid).now.toFixed(0)} MiB`,
      );
    }
  } finally {
    scheduler.kill('SIGTERM');
    await once(scheduler, 'exit');
  }
}

function start(): ChildProcess {
  const { node, program } = flags;
  const args = ['--kubeconfig', servers.kubeconfig, '--leader-elect=false'];
  const [command, first] = program ? [program, []] : [process.execPath, [...node, MAIN, 'scheduler']];
  return spawn(command, [...first, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
}

interface Batch {
  readonly seconds: number;
  /** Processor time of the scheduler and of the API server, seconds. */
  readonly own: number;
  readonly api: number;
  /** So many were written. */
  readonly events: number;
}

/** Creates pods, waits until all have nodes, and deletes them, which does not count. */
async function batch(name: string, pods: number, pid: number): Promise<Batch> {
  const nodes = await counting(`${PODS}?watch=true&fieldSelector=spec.nodeName!%3D`, name);
  const events = await counting(`${EVENTS}?watch=true`, name);
  const before = { startMs: performance.now(), own: cpuSecondsOf(pid), api: cpuSecondsOf(servers.apiPid) };
  await each(pods, (index) => ['POST', PODS, podText(`${name}${index}`)]);
  await nodes.until(pods);
  const seconds = (performance.now() - before.startMs) / 1000;
  await Promise.race([events.until(pods), quiet(() => events.count)]);
  const taken = {
    seconds,
    own: cpuSecondsOf(pid) - before.own,
    api: cpuSecondsOf(servers.apiPid) - before.api,
    events: events.count,
  };
  for (const { close } of [nodes, events]) close();
  await each(pods, (index) => ['DELETE', `${PODS}/${name}${index}`, AT_ONCE]);
  return taken;
}

/** Follows a watch, and counts objects whose name begins with some text. */
async function counting(path: string, prefix: string) {
  const seen = new Set<string>();
  let wanted = Infinity;
  let enough!: () => void;
  const all = new Promise<void>((resolve) => (enough = resolve));
  const check = (): void => {
    if (seen.size >= wanted) enough();
  };
  const watch = await WatchConnection.open(servers.api, path, (name) => {
    if (name.startsWith(prefix)) seen.add(name);
    check();
  });
  return {
    get count(): number {
      return seen.size;
    },
    until: (count: number): Promise<void> => {
      wanted = count;
      check();
      return all;
    },
    close: () => watch.close(),
  };
}

/** Resolves once a number has not changed for two seconds. */
async function quiet(read: () => number): Promise<void> {
  for (let before = -1; read() !== before; await pause(2000)) before = read();
}

/** Sends so many requests over all connections. */
async function each(
  count: number,
  request: (index: number) => readonly [method: string, path: string, body: string],
): Promise<void> {
  let next = 0;
  const work = async (connection: HttpConnection): Promise<void> => {
    while (next < count) {
      const [method, path, body] = request(next++);
      const whole = requestText(servers.api, method, path, { type: 'application/json', text: body });
      const { body: answer, status } = await connection.request(whole, { body: true });
      if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${answer}`);
    }
  };
  await Promise.all(connections.map(work));
}

function aNode(index: number): string {
  const name = `node-${index}`;
  const zone = ZONES[index % ZONES.length];
  const amounts = { cpu: '64', memory: '256Gi', pods: '1000', 'ephemeral-storage': '500Gi' };
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Node' },
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone },
    },
    status: {
      ...{ capacity: amounts, allocatable: amounts },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
}

function podText(name: string): string {
  const resources = { requests: { cpu: '100m', memory: '128Mi' } };
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name, namespace: 'default', labels: { app: 'bench' } },
    spec: { containers: [{ name: 'web', image: 'web:1', resources }] },
  });
}
