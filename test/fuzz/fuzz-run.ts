import { Bystander } from './bystander.js';
import type { Footprint, FuzzedServer, HostileRequest } from './fuzzed-server.js';
import { requestBatches } from './arbitraries/request.js';
import type { FuzzedApi } from './arbitraries/api.js';
import { putSamples, readApi } from './arbitraries/api.js';
import {
  aDeployment,
  assertNoFault,
  DEPLOYMENTS,
  NAMESPACE,
  PODS,
  SeedWorld,
  ServerFault,
  VICTIM,
} from './seeds/index.js';
import type { Seed } from './seeds/index.js';

export interface FuzzLimits {
  /** The longest time that a bystander may wait, milliseconds. */
  readonly bystanderMs: number;
  /** The longest time that one hostile request may take, milliseconds. */
  readonly requestMs: number;
  /** The growth that may be left after a pause and a collection of garbage. Bytes. */
  readonly rssGrowth: number;
  /** The same of what V8 still holds, buffers included: what the allocators keep for later is left out. */
  readonly heapGrowth: number;
}

const MIB = 1024 * 1024;

/**
 * The server keeps the newest objects and the end of the watch log in memory, 24 Mi characters each: what it keeps of
 * them after a run is no leak.
 */
export const FUZZ_LIMITS: FuzzLimits = {
  bystanderMs: 1000,
  requestMs: 10_000,
  rssGrowth: 512 * MIB,
  heapGrowth: 160 * MIB,
};

/** One rule that did not hold. */
export interface Finding {
  /** `seed: …` or the number of the generated request. */
  readonly at: string;
  readonly problem: string;
  /** The request to send again. */
  readonly request?: HostileRequest;
}

export interface FuzzReport {
  readonly findings: readonly Finding[];
  /** Seeds during which the store did not answer each time that they were tried, so that nothing is known. */
  readonly unjudged: readonly string[];
  /** Generated requests by the status that answered them. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly slowestBystanderMs: number;
  readonly slowestRequestMs: number;
  readonly before: Footprint;
  readonly after: Footprint;
}

export interface FuzzRunOptions {
  /** Starts the server that is attacked; again, when an attack has ended it. */
  readonly start: () => Promise<FuzzedServer>;
  readonly seed: number;
  /** How many are generated, after the seeds. */
  readonly requests: number;
  readonly seeds: readonly Seed[];
  /** When no more are sent. @default never */
  readonly enough?: AbortSignal;
  /** See {@link SeedWorld}. @default 1 */
  readonly easier?: number;
  readonly say: (line: string) => void;
  /**
   * Nothing is judged by the clock, and a store that does not answer in time (503) is no finding: for a machine that is
   * busy with others. @default false
   */
  readonly patient?: boolean;
}

const BYSTANDER_OBJECT = '/apis/coordination.k8s.io/v1/namespaces/bystander/leases/mine';
/** So many generated requests are under way at once. */
const PARALLEL = 6;
/** After so many, what they have made is removed. */
const CLEAN_EVERY = 2000;
/** The server comes to rest in its own time: so often, every so many milliseconds, is looked whether it has. */
const REST_ROUNDS = 20;
const REST_MS = 3000;
/** A seed is tried so often. */
const SEED_ATTEMPTS = 5;

/** One server from its start to its end, and who is beside us on it. */
interface Life {
  readonly server: FuzzedServer;
  readonly before: Footprint;
  readonly bystander: Bystander;
}

/** Attacks a server: first what people have thought of, then what chance makes, and looks at it from outside. */
export class FuzzRun {
  private readonly findings: Finding[] = [];
  private readonly statuses = new Map<number, number>();
  private readonly unjudged: string[] = [];
  private readonly limits: FuzzLimits;
  private slowestBystanderMs = 0;
  private slowestRequestMs = 0;
  private life: Life | undefined;

  constructor(private readonly options: FuzzRunOptions) {
    const timeless = { bystanderMs: Infinity, requestMs: Infinity };
    this.limits = { ...FUZZ_LIMITS, ...(options.patient && timeless) };
  }

  async run(): Promise<FuzzReport> {
    try {
      await this.begin();
      await this.runSeeds();
      await this.runGenerated();
      const { before } = this.now;
      await this.now.bystander.stop();
      const after = await this.footprintAtRest(before);
      const { findings, slowestBystanderMs, slowestRequestMs, statuses, unjudged } = this;
      return { findings, unjudged, statuses, slowestBystanderMs, slowestRequestMs, before, after };
    } finally {
      await this.end();
    }
  }

  private get now(): Life {
    if (!this.life) throw new Error('no server runs');
    return this.life;
  }

  private get server(): FuzzedServer {
    return this.now.server;
  }

  private async begin(): Promise<void> {
    const { say, start } = this.options;
    const server = await start();
    say(`an API server with process id ${server.pid} at ${server.url}, log ${server.logFile}`);
    for (const name of [NAMESPACE, 'bystander']) {
      await server.call('POST', '/api/v1/namespaces', { metadata: { name } });
    }
    const lease = { metadata: { name: 'mine' }, spec: { holderIdentity: 'me' } };
    await server.call('POST', BYSTANDER_OBJECT.replace(/\/mine$/, ''), lease);
    const before = await server.measure();
    this.life = { server, before, bystander: Bystander.start(server, BYSTANDER_OBJECT) };
  }

  private async end(): Promise<void> {
    const { life } = this;
    this.life = undefined;
    await life?.bystander.stop();
    await life?.server.stop({ keepFiles: this.findings.length > 0 });
  }

  private async runSeeds(): Promise<void> {
    const { say, seeds } = this.options;
    for (const seed of seeds) {
      const at = `seed: ${seed.name}`;
      await this.putVictim().catch(async (error: unknown) => {
        say(`another server, since this one takes no Deployment: ${String(error)}`);
        await this.end();
        await this.begin();
        await this.putVictim();
      });
      const startedAt = performance.now();
      await this.runSeed(seed);
      const ms = performance.now() - startedAt;
      const waited = await this.look(at);
      await this.checkPollution(at);
      const rss = this.server.death === undefined ? mib(this.server.rss) : 'none';
      say(
        `${ms.toFixed(0).padStart(6)} ms, others ${waited.toFixed(0).padStart(5)} ms, RSS ${rss}: ${seed.name}`,
      );
    }
  }

  /** Runs a seed. A patient run repeats it if the store did not answer. */
  private async runSeed(seed: Seed): Promise<void> {
    const { easier, patient = false, say } = this.options;
    for (let attempt = 0; attempt < SEED_ATTEMPTS; attempt++) {
      const { unavailable } = this.server;
      try {
        await seed.run(new SeedWorld(this.server, easier));
        return;
      } catch (error) {
        const isFault = error instanceof ServerFault && !error.isUnavailable;
        if (!patient || isFault || this.server.unavailable === unavailable) {
          this.found(`seed: ${seed.name}`, String(error));
          return;
        }
      }
      say(`again, since the store did not answer: ${seed.name}`);
      await this.server.send({ method: 'DELETE', path: `${PODS}?gracePeriodSeconds=0` });
      await this.putVictim();
    }
    this.unjudged.push(seed.name);
  }

  private async checkPollution(at: string): Promise<void> {
    if (this.server.death !== undefined) return;
    const polluted = await this.server.polluted().catch(() => undefined);
    if (polluted?.length === 0) return;
    this.found(at, polluted ? `all objects have: ${polluted.join(', ')}` : 'the server is busy for minutes');
    await this.end();
    await this.begin();
  }

  /** Replaces the victim, regardless of the fate of the last one, and retries if the store did not answer. */
  private async putVictim(): Promise<void> {
    const { server } = this;
    const headers = { 'content-type': 'application/merge-patch+json' };
    const freed = JSON.stringify({ metadata: { finalizers: null } });
    for (;;) {
      const { unavailable } = server;
      const hasAnswered = (): boolean => server.unavailable === unavailable;
      await server.send({ method: 'DELETE', path: VICTIM });
      await server.send({ method: 'PATCH', path: VICTIM, headers, body: freed });
      await server.call('POST', DEPLOYMENTS, aDeployment('victim')).catch((error: unknown) => {
        if (hasAnswered()) throw error;
      });
      if (hasAnswered()) return;
    }
  }

  private async runGenerated(): Promise<void> {
    const { enough, requests, say, seed } = this.options;
    if (requests === 0) return;
    await this.putVictim();
    const api = await readApi(this.server);
    for (const refused of await putSamples(this.server, api)) say(`no sample of ${refused}`);
    let sent = 0;
    for (const batch of requestBatches(api, { seed, count: requests })) {
      await this.sendAll(batch, sent);
      sent += batch.length;
      if (this.server.death !== undefined) {
        this.found(`request ${sent}`, `the server has died: ${this.server.death}`);
        return;
      }
      const waited = await this.look(`requests ${sent - batch.length} to ${sent - 1}`);
      if (sent % 1000 < batch.length) say(`${sent} sent, others waited ${waited.toFixed(0)} ms at most`);
      if (sent % CLEAN_EVERY < batch.length) await this.clean(api);
      if (enough?.aborted) return;
    }
  }

  private async sendAll(batch: readonly HostileRequest[], first: number): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < batch.length; index = next++) {
        if (this.server.death !== undefined) return;
        await this.sendOne(batch[index]!, first + index);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  }

  private async sendOne(request: HostileRequest, number: number): Promise<void> {
    try {
      const answer = await this.server.send(request);
      this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
      this.slowestRequestMs = Math.max(this.slowestRequestMs, answer.ms);
      assertNoFault(request, answer);
      if (answer.ms > this.limits.requestMs) throw new Error(`took ${answer.ms.toFixed(0)} ms`);
    } catch (error) {
      const isExcused = this.options.patient && error instanceof ServerFault && error.isUnavailable;
      if (!isExcused && !isOwnRefusal(error)) this.found(`request ${number}`, String(error), request);
    }
  }

  /** Reads how long the bystander has waited since the last look. */
  private async look(at: string): Promise<number> {
    const { bystander, server } = this.now;
    if (server.death !== undefined) this.found(at, `the server has died: ${server.death}`);
    const sighting = await bystander.take();
    const { failures, slowdown, slowest } = sighting;
    const waitedMs = slowest.ms / slowdown;
    this.slowestBystanderMs = Math.max(this.slowestBystanderMs, waitedMs);
    if (waitedMs > this.limits.bystanderMs)
      this.found(
        at,
        `somebody else's ${slowest.what} waited ${waitedMs.toFixed(0)} ms (machine slower by ${slowdown.toFixed(1)})`,
      );
    // 429 is an answer that its client waits out.
    const excused = this.options.patient ? [' 429', ' 503'] : [' 429'];
    const failed = failures.filter((failure) => !excused.some((status) => failure.endsWith(status)));
    if (failed.length > 0)
      this.found(at, `somebody else's requests failed: ${[...new Set(failed)].join(', ')}`);
    return waitedMs;
  }

  private async clean(api: FuzzedApi): Promise<void> {
    for (const path of api.collections) {
      await this.server
        .send({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0` })
        .catch(() => undefined);
    }
    await putSamples(this.server, api);
  }

  private async footprintAtRest(before: Footprint): Promise<Footprint> {
    const { server } = this;
    if (server.death !== undefined) return before;
    const { heapGrowth, rssGrowth } = this.limits;
    const held = ({ external, heapUsed }: Footprint): number => heapUsed + external;
    const isAtRest = (now: Footprint): boolean =>
      now.rss - before.rss <= rssGrowth && held(now) - held(before) <= heapGrowth;
    let after = await server.measure();
    for (let round = 0; round < REST_ROUNDS && !isAtRest(after); round++) {
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      after = await server.measure();
    }
    if (after.rss - before.rss > rssGrowth)
      this.found('the end', `RSS grew from ${mib(before.rss)} to ${mib(after.rss)}`);
    if (held(after) - held(before) > heapGrowth)
      this.found('the end', `the heap grew from ${mib(held(before))} to ${mib(held(after))}`);
    if (after.polluted.length > 0) this.found('the end', `all objects have: ${after.polluted.join(', ')}`);
    return after;
  }

  private found(at: string, problem: string, request?: HostileRequest): void {
    this.options.say(`FOUND at ${at}: ${problem}`);
    this.findings.push({ at, problem, ...(request && { request }) });
  }
}

/** Whether our own HTTP client has refused to send it. */
function isOwnRefusal(error: unknown): boolean {
  const code = (error as { code?: string }).code;
  return code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED';
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(0)} MiB`;
}
