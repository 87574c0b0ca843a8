import { number, readFlags, text } from '../test/support/flags.js';
import { cpuSecondsOf } from './api/figures.js';
import type { PodVerb } from './api/pod-requests.js';
import { ApiServers } from './api/servers.js';

/**
 * Compares the cost of requests on this API server with that on another version of it. Both are up at the same time,
 * each with a Redis of its own, and get the same requests in turns: on a machine that does other things, two runs one
 * after the other differ by more than the versions do. Servers also differ from start to start, by how V8 compiles
 * them, so both are started several times.
 */
const flags = readFlags('npm run bench:api --', {
  beside: text('the other version: a commit or a tag'),
  main: text('its program, which is built from the history'),
  starts: number('times that both servers are started', 4),
  rounds: number('turns of each server with each kind of request, after three that do not count', 12),
  objects: number('pods in each turn', 1000),
  connections: number('connections at once', 32),
});

const VERBS: readonly PodVerb[] = ['create', 'status', 'get', 'delete'];
const WARM_ROUNDS = 3;

/** Microseconds of processor time for each request, one figure for each turn. */
interface Costs {
  readonly here: number[];
  readonly beside: number[];
}

type Side = keyof Costs;

const starts: ReadonlyMap<PodVerb, Costs>[] = [];
for (let start = 0; start < flags.starts; start++) starts.push(await oneStart());
print();

async function oneStart(): Promise<ReadonlyMap<PodVerb, Costs>> {
  const here = await ApiServers.start({ execArgv: [] });
  try {
    const beside = await ApiServers.start({ execArgv: [], main: flags.main });
    try {
      return await inTurns({ here, beside });
    } finally {
      await beside.stop();
    }
  } finally {
    await here.stop();
  }
}

async function inTurns(servers: Readonly<Record<Side, ApiServers>>): Promise<ReadonlyMap<PodVerb, Costs>> {
  const costs = new Map<PodVerb, Costs>(VERBS.map((verb) => [verb, { here: [], beside: [] }]));
  for (let round = -WARM_ROUNDS; round < flags.rounds; round++) {
    // Neither always has what the other one leaves in the caches of the processors.
    const order: readonly Side[] = round % 2 === 0 ? ['here', 'beside'] : ['beside', 'here'];
    const names = Array.from({ length: flags.objects }, (_, index) => `web-${round + WARM_ROUNDS}-${index}`);
    for (const verb of VERBS)
      for (const side of order) {
        const cost = await oneTurn(servers[side], verb, names);
        if (round >= 0) costs.get(verb)?.[side].push(cost);
      }
  }
  return costs;
}

async function oneTurn(servers: ApiServers, verb: PodVerb, names: readonly string[]): Promise<number> {
  const { api, apiPid } = servers;
  const before = cpuSecondsOf(apiPid);
  await servers.run({ kind: 'http', target: api, connections: flags.connections, verb, names });
  return ((cpuSecondsOf(apiPid) - before) / names.length) * 1e6;
}

function print(): void {
  const turns = flags.rounds * flags.starts;
  console.log(
    `CPU of the server for each request, us: mean of ${turns} turns of ${flags.objects} requests in ${flags.starts} starts`,
  );
  console.log(`${''.padEnd(10)}${'here'.padStart(8)}${flags.beside.padStart(16)}   ratio, of each start`);
  for (const verb of VERBS) {
    const each = starts.map((costs) => costs.get(verb)!);
    const [here, beside] = (['here', 'beside'] as const).map((side) =>
      mean(each.flatMap((costs) => costs[side])),
    ) as [number, number];
    const ratios = each.map((costs) => (mean(costs.here) / mean(costs.beside)).toFixed(2)).join(', ');
    const figures = `${here.toFixed(0).padStart(8)}${beside.toFixed(0).padStart(16)}`;
    console.log(`${verb.padEnd(10)}${figures}   ${(here / beside).toFixed(2)} (${ratios})`);
  }
}

function mean(figures: readonly number[]): number {
  return figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
}
