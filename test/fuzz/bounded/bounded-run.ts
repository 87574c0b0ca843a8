import { SeededRandom } from '../../../src/machinery/clock/index.js';
import type { RandomSource } from '../../../src/machinery/clock/index.js';
import { Bystander } from '../bystander.js';
import type { FuzzedApi } from '../arbitraries/api.js';
import { putSamples, readApi } from '../arbitraries/api.js';
import { requestBatches } from '../arbitraries/request.js';
import type { FuzzedServer, HostileRequest } from '../fuzzed-server.js';
import { FUZZ_LIMITS } from '../fuzz-run.js';
import type { Finding } from '../fuzz-run.js';
import { assertNoFault, ServerFault } from '../seeds/index.js';
import type { Canary } from './canaries.js';
import { leaksIn, makeCanaries, OTHERS, putCanaries } from './canaries.js';
import { LongRequests } from './long-requests.js';
import { BYSTANDER, changes, objectsOutside, rightsOfUsers } from './outside.js';
import { inNamespace } from './paths.js';
import type { Hearsay } from './reach.js';
import { reachFor } from './reach.js';
import type { BoundedUser } from './users.js';
import { putUsers, USERS } from './users.js';

export interface BoundedRunOptions {
  readonly seed: number;
  readonly requests: number;
  /** Nothing is judged by the clock. @default false */
  readonly isPatient?: boolean;
  readonly say: (line: string) => void;
}

export interface BoundedReport {
  readonly findings: readonly Finding[];
  readonly statuses: ReadonlyMap<number, number>;
  /** Canaries' objects, and all objects that had to stay as they were. */
  readonly canaries: number;
  readonly outside: number;
  /** The longest wait of another client, as on a machine that does nothing else. Milliseconds. */
  readonly slowestBystanderMs: number;
}

/** So many requests are under way at once. */
const PARALLEL = 8;
/** After so many, what is outside is looked at, and the samples at home are put there again. */
const LOOK_EVERY = 5000;
/** One request of so many has a long list or text. */
const LONG_EVERY = 6;

/**
 * Users with rights in one namespace each attack a server. No answer to them shows what is in another namespace, nothing outside
 * theirs changes, and they may do no more at the end than at the beginning.
 */
export class BoundedRun {
  private readonly findings: Finding[] = [];
  private readonly statuses = new Map<number, number>();
  private readonly canaries = makeCanaries();
  private readonly random: RandomSource;
  private readonly long: LongRequests;
  private slowestBystanderMs = 0;

  constructor(
    private readonly server: FuzzedServer,
    private readonly options: BoundedRunOptions,
  ) {
    this.random = new SeededRandom(options.seed);
    this.long = new LongRequests(this.random);
  }

  async run(): Promise<BoundedReport> {
    const api = await this.prepare();
    const bystander = Bystander.start(this.server, BYSTANDER.path);
    try {
      return await this.attack(api, bystander);
    } finally {
      await bystander.stop();
    }
  }

  private async attack(api: FuzzedApi, bystander: Bystander): Promise<BoundedReport> {
    const { requests, say, seed } = this.options;
    const canaries = await this.putAllCanaries(api);
    const outside = await objectsOutside(this.server, api);
    const rights = await rightsOfUsers(this.server);
    say(`${canaries} objects with canaries, ${outside.size} objects that must stay, ${rights.size} rights`);
    let hearsay = await this.listen(api);
    let sent = 0;
    for (const batch of requestBatches(mostlyNamespaced(api), { seed, count: requests })) {
      await this.sendAll(
        batch.map((request, index) => (index % LONG_EVERY === 0 ? this.long.next() : request)),
        sent,
        hearsay,
      );
      await this.look(bystander, `requests ${sent} to ${sent + batch.length - 1}`);
      const isTimeToLook = Math.floor((sent + batch.length) / LOOK_EVERY) > Math.floor(sent / LOOK_EVERY);
      sent += batch.length;
      if (this.server.death !== undefined) {
        this.found(`request ${sent}`, `the server has died: ${this.server.death}`);
        break;
      }
      if (!isTimeToLook) continue;
      say(`${sent} sent, ${this.findings.length} findings`);
      this.compare(`request ${sent}`, changes(outside, await objectsOutside(this.server, api)));
      await this.putSamplesAtHome(api);
      hearsay = await this.listen(api);
    }
    if (this.server.death === undefined) {
      this.compare('the end', changes(outside, await objectsOutside(this.server, api)));
      const now = await rightsOfUsers(this.server);
      this.compare(
        'the end',
        [...now].filter((right) => !rights.has(right)).map((right) => `new right: ${right}`),
      );
    }
    const { findings, slowestBystanderMs, statuses } = this;
    return { findings, statuses, canaries, outside: outside.size, slowestBystanderMs };
  }

  /** Reads how long the bystander has waited since the last look. */
  private async look(bystander: Bystander, at: string): Promise<void> {
    const { slowdown, slowest } = await bystander.take();
    const waitedMs = slowest.ms / slowdown;
    this.slowestBystanderMs = Math.max(this.slowestBystanderMs, waitedMs);
    if (!this.options.isPatient && waitedMs > FUZZ_LIMITS.bystanderMs)
      this.found(
        at,
        `somebody else's ${slowest.what} waited ${waitedMs.toFixed(0)} ms (machine slower by ${slowdown.toFixed(1)})`,
      );
  }

  private async prepare(): Promise<FuzzedApi> {
    for (const name of OTHERS) await this.server.call('POST', '/api/v1/namespaces', { metadata: { name } });
    await putUsers(this.server);
    await this.server.call('POST', '/api/v1/namespaces', { metadata: { name: BYSTANDER.namespace } });
    await this.server.call('POST', BYSTANDER.path.slice(0, BYSTANDER.path.lastIndexOf('/')), {
      metadata: { name: BYSTANDER.name },
    });
    const api = await readApi(this.server);
    await this.putSamplesAtHome(api);
    return api;
  }

  private async putAllCanaries(api: FuzzedApi): Promise<number> {
    let count = 0;
    for (const canary of this.canaries) count += await putCanaries(this.server, api, canary);
    return count;
  }

  private async putSamplesAtHome(api: FuzzedApi): Promise<void> {
    for (const { namespace } of USERS) {
      const resources = api.resources.flatMap((resource) => {
        const path = inNamespace(resource.path, namespace);
        return path === resource.path ? [] : [{ ...resource, path }];
      });
      await putSamples(this.server, { ...api, resources });
    }
  }

  /** Tokens of all sorts of lists, as an administrator gets them. */
  private async listen(api: FuzzedApi): Promise<Hearsay> {
    const tokens: string[] = [];
    let revision = 0;
    const lists = ['secrets', 'configmaps', 'pods'].flatMap((name) =>
      [...OTHERS, ...USERS.map(({ namespace }) => namespace)]
        .map((namespace) => `/api/v1/namespaces/${namespace}/${name}`)
        .concat(`/api/v1/${name}`),
    );
    for (const path of lists.filter((each) =>
      api.resources.some(({ path: served }) => endOf(served) === endOf(each)),
    )) {
      const { metadata } = (await this.server.call('GET', `${path}?limit=1`)) as {
        metadata: { continue?: string; resourceVersion: string };
      };
      if (metadata.continue !== undefined) tokens.push(metadata.continue);
      revision = Number(metadata.resourceVersion);
    }
    return { tokens, revision };
  }

  private async sendAll(batch: readonly HostileRequest[], first: number, hearsay: Hearsay): Promise<void> {
    const attempts = batch.map((request, index) => {
      const user = USERS[(first + index) % USERS.length]!;
      return { user, at: `request ${first + index}`, request: reachFor(request, user, hearsay, this.random) };
    });
    const waiting = attempts.values();
    const work = async (): Promise<void> => {
      for (const { at, request, user } of waiting) {
        if (this.server.death !== undefined) return;
        await this.sendOne(at, user, request);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  }

  private async sendOne(at: string, user: BoundedUser, request: HostileRequest): Promise<void> {
    try {
      const answer = await this.server.send(request);
      this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
      const leaks: readonly Canary[] = leaksIn(answer, this.canaries, user.namespace);
      if (leaks.length > 0)
        this.found(at, `${user.name} sees ${leaks.map(({ namespace }) => namespace).join(', ')}`, request);
      assertNoFault(request, answer);
    } catch (error) {
      const isExcused = error instanceof ServerFault && error.isUnavailable;
      if (!isExcused && !isOwnRefusal(error)) this.found(at, String(error), request);
    }
  }

  private compare(at: string, problems: readonly string[]): void {
    for (const problem of problems) this.found(at, problem);
  }

  private found(at: string, problem: string, request?: HostileRequest): void {
    this.options.say(`FOUND at ${at}: ${problem}`);
    this.findings.push({ at, problem, ...(request && { request }) });
  }
}

/** All resources of namespaces, and a part of the others, at whose door users are refused. */
function mostlyNamespaced(api: FuzzedApi): FuzzedApi {
  const resources = api.resources.filter(
    ({ path }, index) => path.includes('/namespaces/') || index % 4 === 0,
  );
  return { ...api, resources };
}

function endOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Whether our own HTTP client has refused to send it. */
function isOwnRefusal(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED';
}
