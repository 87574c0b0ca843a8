import { listOf, number, readFlags, texts } from '../test/support/flags.js';
import { cpuSecondsOf, median, memoryOf } from './api/figures.js';
import type { LoadJob, LoadResult } from './api/load.js';
import type { PodVerb } from './api/pod-requests.js';
import { ApiServers } from './api/servers.js';

/**
 * How fast the embedded API server is by itself: requests of one kind at a time, on a server that is warm, with nothing
 * beside it but its Redis and the load generator. Each round measures the floor as well, a bare HTTPS server and a
 * plain Redis under the same load, so that figures of a machine that does other things can be read as ratios.
 */
const flags = readFlags('npm run bench:api --', {
  rounds: number('times that everything is measured', 3),
  objects: number('pods', 10_000),
  connections: number('connections at once', 32),
  phases: listOf('some only', ['requests', 'watch', 'one', 'lists']),
  node: texts("an argument of the API server's Node, --node=--cpu-prof; again for more", []),
});
const { connections, objects, rounds } = flags;
const LISTED = 2000;
const SINGLE = 1000;
const WATCHES = 1;
const phases = new Set(flags.phases);

interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  /** Processor time that the server has spent on each request, microseconds: says more than rates on a shared machine. */
  readonly serverUs?: number;
  /** To be read beside it. */
  readonly detail?: string;
}

const servers = await ApiServers.start({ execArgv: flags.node });
const measured: Figure[][] = [];
let series = 0;
try {
  await warmUp();
  for (let round = 0; round < rounds; round++) measured.push(await oneRound());
  print();
} finally {
  await servers.stop();
}

/** Until V8 has compiled what it is going to compile. */
async function warmUp(): Promise<void> {
  const names = newNames(3000);
  for (const verb of ['create', 'status', 'get', 'delete'] as const) {
    await request(verb, names);
    await floorHttps(verb === 'create' ? 'create' : 'get', 2000);
  }
}

async function oneRound(): Promise<Figure[]> {
  const figures: Figure[] = [];
  if (phases.has('requests')) figures.push(...(await requests()));
  if (phases.has('watch')) figures.push(...(await watchAtFullLoad()));
  if (phases.has('one')) figures.push(...(await oneConnection()));
  if (phases.has('lists')) figures.push(...(await lists()));
  figures.push(...memory());
  return figures;
}

async function requests(): Promise<Figure[]> {
  const figures: Figure[] = [];
  const reads = await floorHttps('get', objects);
  const writes = await floorHttps('create', objects);
  figures.push(rateOf('floor: bare HTTPS, reads', reads), rateOf('floor: bare HTTPS, writes', writes));
  figures.push(rateOf('floor: Redis alone, SET', await floorRedis('set')));
  figures.push(rateOf('floor: Redis alone, GET', await floorRedis('get')));
  const names = newNames(objects);
  for (const [verb, name, floor] of [
    ['create', 'creates', writes],
    ['status', 'status patches', writes],
    ['get', 'gets', reads],
    ['delete', 'deletes', writes],
  ] as const) {
    const figure = rateOf(name, await request(verb, names));
    figures.push({
      ...figure,
      detail: `${figure.detail}; ${percent(figure.value / floor.rate)} of bare HTTPS`,
    });
  }
  return figures;
}

function rateOf(name: string, { detail, rate, serverUs }: Phase): Figure & { detail: string } {
  return { name, unit: '/s', value: rate, serverUs, detail };
}

async function watchAtFullLoad(): Promise<Figure[]> {
  const names = newNames(objects);
  const { detail, result, serverUs } = await request('create', names, { watches: WATCHES });
  await request('delete', names);
  const { watch } = result;
  const answered = watch!.sinceAnswered.p99;
  return [
    { name: 'watch delivery p99, since the answer', unit: 'ms', value: answered, serverUs, detail },
    { name: 'watch delivery p99, since it was sent', unit: 'ms', value: watch!.sinceSent.p99 },
    { name: 'watch delivery p50, since it was sent', unit: 'ms', value: watch!.sinceSent.p50 },
  ];
}

async function oneConnection(): Promise<Figure[]> {
  const names = newNames(SINGLE);
  const figures: Figure[] = [];
  for (const verb of ['create', 'status', 'get', 'delete'] as const) {
    const { result, serverUs } = await request(verb, names, { connections: 1 });
    figures.push({
      name: `one connection: ${verb} p50`,
      unit: 'ms',
      value: result.latency.p50,
      serverUs,
      detail: `p99 ${result.latency.p99.toFixed(2)}`,
    });
  }
  return figures;
}

async function lists(): Promise<Figure[]> {
  const names = newNames(LISTED);
  await request('create', names);
  const { detail, result, serverUs } = await request('list', newNames(20), { connections: 1 });
  await request('delete', names);
  const name = `list of ${LISTED} pods p50`;
  return [{ name, unit: 'ms', value: result.latency.p50, serverUs, detail }];
}

function memory(): Figure[] {
  const api = memoryOf(servers.apiPid);
  const redis = memoryOf(servers.redis.pid() ?? 0);
  const detail = `API server ${api.now.toFixed(0)} (peak ${api.peak.toFixed(0)}), Redis ${redis.now.toFixed(0)} (peak ${redis.peak.toFixed(0)})`;
  return [{ name: 'memory of API server and Redis', unit: 'MiB', value: api.now + redis.now, detail }];
}

interface Phase {
  readonly result: LoadResult;
  readonly rate: number;
  readonly serverUs: number;
  readonly detail: string;
}

function request(
  verb: PodVerb,
  names: readonly string[],
  more: { readonly watches?: number; readonly connections?: number } = {},
): Promise<Phase> {
  return phase({ kind: 'http', target: servers.api, connections, verb, names, ...more });
}

function floorHttps(verb: 'create' | 'get', requests: number): Promise<Phase> {
  return phase({ kind: 'http', target: servers.floor, connections, verb, names: newNames(requests) });
}

function floorRedis(command: 'set' | 'get'): Promise<Phase> {
  return phase({
    kind: 'redis',
    url: servers.redis.url,
    inFlight: connections,
    command,
    requests: objects * 2,
  });
}

async function phase(job: LoadJob): Promise<Phase> {
  const redisPid = servers.redis.pid() ?? 0;
  const serverPid = job.kind === 'redis' ? redisPid : servers.pidOf(job.target);
  const cpu = () => ({ server: cpuSecondsOf(serverPid), redis: cpuSecondsOf(redisPid) });
  const before = cpu();
  const result = await servers.run(job);
  const after = cpu();
  const each = (seconds: number): number => (seconds / result.requests) * 1e6;
  const redisUs = each(after.redis - before.redis).toFixed(0);
  const detail = `Redis ${redisUs}, load ${each(result.cpuSeconds).toFixed(0)} (${percent(result.cpuSeconds / result.seconds / 2)} of 2 cores)`;
  return {
    result,
    rate: result.requests / result.seconds,
    serverUs: each(after.server - before.server),
    detail,
  };
}

function newNames(count: number): string[] {
  const prefix = `web-${(series++).toString(36)}`;
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function print(): void {
  console.log(`${objects} pods, ${connections} connections; medians of ${rounds} rounds (lowest to highest)`);
  console.log(`${''.padEnd(74)} CPU µs per request: server, and others`);
  for (const [index, { name, unit }] of measured[0]!.entries()) {
    const all = measured.map((figures) => figures[index]!);
    const numbers = all.map(({ value }) => value);
    const digits = unit === 'ms' ? 2 : 0;
    const show = (value: number): string => value.toFixed(digits);
    const spread = `(${show(Math.min(...numbers))} to ${show(Math.max(...numbers))})`;
    const serverUs = median(all.map((figure) => figure.serverUs ?? NaN));
    const cpu = Number.isNaN(serverUs) ? '' : serverUs.toFixed(0);
    console.log(
      `${name.padEnd(40)} ${show(median(numbers)).padStart(8)} ${unit.padEnd(4)} ${spread.padEnd(20)} ${cpu.padStart(6)}  ${all.at(-1)?.detail ?? ''}`,
    );
  }
}
