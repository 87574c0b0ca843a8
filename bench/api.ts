import { parseArgs } from 'node:util';
import { cpuSecondsOf, median, memoryOf } from './api/figures.js';
import type { LoadJob, LoadResult } from './api/load.js';
import type { PodVerb } from './api/pod-requests.js';
import { ApiServers } from './api/servers.js';

/**
 * How fast the embedded API server is by itself: requests of one kind at a time, on a server that is warm, with nothing
 * beside it but its Redis and the load generator. Each round measures the floor as well, a bare HTTPS server and a
 * plain Redis under the same load, so that figures of a machine that does other things can be read as ratios.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    objects: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '32' },
    /** Arguments of the API server's Node: --node=--cpu-prof --node=--cpu-prof-dir=/tmp/profiles */
    node: { type: 'string', multiple: true, default: [] },
  },
});
const rounds = Number(values.rounds);
const objects = Number(values.objects);
const connections = Number(values.connections);
const LISTED = 2000;
const SINGLE = 1000;
const WATCHES = 1;

interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  /** To be read beside it. */
  readonly detail?: string;
}

const servers = await ApiServers.start({ execArgv: values.node });
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
  const https = (await floorHttps('get', objects)).rate;
  const httpsPost = (await floorHttps('create', objects)).rate;
  const redisSet = (await floorRedis('set')).rate;
  const redisGet = (await floorRedis('get')).rate;
  figures.push({ name: 'floor: bare HTTPS, reads', unit: '/s', value: https });
  figures.push({ name: 'floor: bare HTTPS, writes', unit: '/s', value: httpsPost });
  figures.push({ name: 'floor: Redis alone, SET', unit: '/s', value: redisSet });
  figures.push({ name: 'floor: Redis alone, GET', unit: '/s', value: redisGet });
  const names = newNames(objects);
  for (const [verb, name, floor] of [
    ['create', 'creates', httpsPost],
    ['status', 'status patches', httpsPost],
    ['get', 'gets', https],
    ['delete', 'deletes', httpsPost],
  ] as const) {
    const phase = await request(verb, names);
    figures.push({
      name,
      unit: '/s',
      value: phase.rate,
      detail: `${phase.detail}, ${percent(phase.rate / floor)} of bare HTTPS`,
    });
  }
  figures.push(...(await watchAtFullLoad()), ...(await oneConnection()), ...(await lists()));
  figures.push(...memory());
  return figures;
}

async function watchAtFullLoad(): Promise<Figure[]> {
  const names = newNames(objects);
  const { detail, result } = await request('create', names, { watches: WATCHES });
  await request('delete', names);
  const { watch } = result;
  return [
    { name: 'watch delivery p99, since the answer', unit: 'ms', value: watch!.sinceAnswered.p99, detail },
    { name: 'watch delivery p99, since it was sent', unit: 'ms', value: watch!.sinceSent.p99 },
    { name: 'watch delivery p50, since it was sent', unit: 'ms', value: watch!.sinceSent.p50 },
  ];
}

async function oneConnection(): Promise<Figure[]> {
  const names = newNames(SINGLE);
  const figures: Figure[] = [];
  for (const verb of ['create', 'status', 'get', 'delete'] as const) {
    const { result } = await request(verb, names, { connections: 1 });
    figures.push({
      name: `one connection: ${verb} p50`,
      unit: 'ms',
      value: result.latency.p50,
      detail: `p99 ${result.latency.p99.toFixed(2)}`,
    });
  }
  return figures;
}

async function lists(): Promise<Figure[]> {
  const names = newNames(LISTED);
  await request('create', names);
  const { detail, result } = await request('list', newNames(20), { connections: 1 });
  await request('delete', names);
  return [{ name: `list of ${LISTED} pods p50`, unit: 'ms', value: result.latency.p50, detail }];
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
  const cpu = () => ({ api: cpuSecondsOf(servers.apiPid), redis: cpuSecondsOf(servers.redis.pid() ?? 0) });
  const before = cpu();
  const result = await servers.run(job);
  const after = cpu();
  const each = (seconds: number): string => ((seconds / result.requests) * 1e6).toFixed(0);
  const detail = `CPU µs: server ${each(after.api - before.api)}, Redis ${each(after.redis - before.redis)}, load ${each(result.cpuSeconds)} (${percent(result.cpuSeconds / result.seconds / 2)} of 2 cores)`;
  return { result, rate: result.requests / result.seconds, detail };
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
  for (const [index, { name, unit }] of measured[0]!.entries()) {
    const all = measured.map((figures) => figures[index]!);
    const numbers = all.map(({ value }) => value);
    const digits = unit === 'ms' ? 2 : 0;
    const show = (value: number): string => value.toFixed(digits);
    const spread = `(${show(Math.min(...numbers))} to ${show(Math.max(...numbers))})`;
    console.log(
      `${name.padEnd(40)} ${show(median(numbers)).padStart(8)} ${unit.padEnd(4)} ${spread.padEnd(20)} ${all.at(-1)?.detail ?? ''}`,
    );
  }
}
