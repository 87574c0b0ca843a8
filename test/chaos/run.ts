import { setTimeout as pause } from 'node:timers/promises';
import { EndpointSlice, Node, Service } from '../../src/machinery/kubernetes/index.js';
import { Checks } from './checks.js';
import type { ConsoleWatch } from './console-watch.js';
import { findUnrest } from './checkers/rest.js';
import type { Violation } from './checkers/violation.js';
import { DeletedPods } from './deleted-pods.js';
import { HTTPRoute } from './led-routes.js';
import { History } from './history.js';
import { Journal } from './journal.js';
import { Load } from './load.js';
import { Lifetimes } from './lifetimes.js';
import { createNamespaces, inEach, namespacesOf } from './namespaces.js';
import { findOpenIntents } from './open-intents.js';
import { makePolicyWorld } from './policy-world.js';
import { Probes } from './probes.js';
import { findQueued } from './queues.js';
import type { FaultRecord, RunRecord } from './report.js';
import { Resources } from './resources.js';
import { RouteKeeper, defineRoutes, findLedRoutes } from './routes.js';
import type { ScheduledFault } from './schedule.js';
import type { SeededRandom } from './random.js';
import { takeTerms } from './terms.js';
import { writeTraces } from './trace.js';
import type { ChaosSet } from './set/chaos-set.js';
import { FAULTS } from './faults/index.js';

export interface RunOptions {
  readonly seed: number;
  readonly set: ChaosSet;
  readonly schedule: readonly (readonly ScheduledFault[])[];
  readonly random: SeededRandom;
  readonly deployments: number;
  readonly pauseMs: number;
  readonly say: (line: string) => void;
  /** No new round after this long. */
  readonly longestMs: number;
  /** Ends the run at the first violation, with everything left as it is. */
  readonly stopAtViolation: boolean;
  /** Multiplies what may pass before something counts as too late; no promise but those about time depends on it. */
  readonly patience: number;
  /** Opened before the run, closed after it. @default none */
  readonly console?: ConsoleWatch;
}

const REST_WITHIN_MS = 10_000;
const REST_GIVE_UP_MS = 120_000;

/** Rounds of load and faults; after each, everything must come to rest, and all that was recorded is checked. */
export class ChaosRun {
  private readonly namespaces: readonly string[];
  private readonly history: History;
  private readonly journal: Journal;
  private readonly probes: Probes;
  private readonly load: Load;
  private readonly checks: Checks;
  private readonly routes: RouteKeeper;
  private readonly lifetimes: Lifetimes;
  private readonly resources = new Resources();
  private readonly deletedPods: DeletedPods;
  private readonly violations: Violation[] = [];
  private readonly faults: FaultRecord[] = [];
  private readonly restMs: number[] = [];
  private traces = 0;

  constructor(private readonly options: RunOptions) {
    const { deployments, pauseMs, random, set } = options;
    const namespaces = namespacesOf(set.slots);
    this.namespaces = namespaces;
    this.checks = new Checks(set);
    this.deletedPods = new DeletedPods(set.client);
    this.history = new History(set.client, namespaces, [Service, EndpointSlice, HTTPRoute]);
    this.routes = new RouteKeeper(set.client);
    this.lifetimes = new Lifetimes(set.client, namespaces, random);
    this.journal = new Journal(set.replicas.map(({ journalFile }) => journalFile));
    this.probes = new Probes(set.client, undefined, namespaces);
    this.history.onEvent = (event) => {
      this.probes.note(event);
      this.routes.note(event);
      this.lifetimes.note(event);
    };
    this.load = new Load({ client: set.client, random, deployments, pauseMs, namespaces });
  }

  async run(): Promise<RunRecord> {
    const { longestMs, schedule, seed, stopAtViolation } = this.options;
    const startedMs = performance.now();
    this.checks.know((await this.options.set.client.list<Node>(Node)).items);
    await defineRoutes(this.options.set.client);
    await createNamespaces(this.options.set.client, this.namespaces);
    await this.history.start();
    this.routes.start();
    await this.lifetimes.start();
    await this.probes.start();
    await this.deletedPods.prepare();
    const namespaceOf = (name: string): string => this.load.namespaceOf(name);
    await makePolicyWorld(this.options.set.client, this.namespaces, this.load.needs, namespaceOf);
    let rounds = 0;
    for (const faults of schedule) {
      if (performance.now() - startedMs > longestMs) break;
      await this.round(faults);
      rounds += 1;
      this.options.say(
        `round ${rounds}: at rest after ${Math.round(this.restMs.at(-1) ?? 0)} ms, ${this.violations.length} violations`,
      );
      if (stopAtViolation && this.violations.length > 0) break;
    }
    if (!stopAtViolation || this.violations.length === 0) await this.history.stop();
    await this.routes.stop();
    await this.lifetimes.stop();
    const page = this.options.console;
    const seen = page?.summary();
    this.add(seen?.violations ?? []);
    return {
      seed,
      ranMs: performance.now() - startedMs,
      rounds,
      faults: this.faults,
      checks: {
        ...this.checks.counts(),
        rest: rounds,
        resources: this.resources.checks,
        'deleted pods': this.deletedPods.checks,
        ...(page && { console: page.checks }),
      },
      violations: this.violations,
      load: this.load.counts,
      restMs: this.restMs,
      console: seen?.line,
    };
  }

  private async round(faults: readonly ScheduledFault[]): Promise<void> {
    const { patience, say, set } = this.options;
    const found = (...problem: [string, string, string]): void => this.found(...problem);
    this.load.start();
    this.lifetimes.begin();
    const made = await makeFaults(faults, { set, probes: this.probes, patience, say, found });
    this.faults.push(...made);
    for (const { kind, recoveredMs, target } of made)
      if (recoveredMs === undefined)
        this.found('rest', kind, `${target}: a change was not seen for two minutes`);
    set.heal();
    await set.untilSettled();
    await this.load.stop();
    this.lifetimes.end();
    await this.comeToRest();
    await this.history.untilComplete();
    if (this.history.gaps > 0)
      this.found('history', 'watch', 'changes were missed; nothing can be said about them');
    const history = this.history.take();
    const journal = this.journal.take();
    const terms = await takeTerms(set.redis);
    const problems = [
      ...this.checks.checkRecorded(history, journal, terms, this.lifetimes.take()),
      ...this.checks.checkAtRest(this.load.last()),
    ];
    this.add(problems);
    this.traces += writeTraces(set.dataDir, problems, history, journal, this.traces + 1);
    this.add(await this.resources.check(set.replicas));
    this.add((await this.options.console?.check()) ?? []);
    this.add(await this.deletedPods.check());
  }

  private async comeToRest(): Promise<void> {
    const startedMs = performance.now();
    const withinMs = REST_WITHIN_MS * this.options.patience;
    let left = await this.unrest();
    let hasSaid = false;
    while (left.length > 0 && performance.now() - startedMs < REST_GIVE_UP_MS) {
      if (!hasSaid && performance.now() - startedMs > withinMs) {
        hasSaid = true;
        this.options.say(left.join('\n'));
      }
      await pause(100);
      left = await this.unrest();
    }
    const restedMs = performance.now() - startedMs;
    this.restMs.push(restedMs);
    if (left.length > 0) this.found('rest', 'the set', `never at rest: ${left.join('; ')}`);
    else if (restedMs > withinMs)
      this.found('rest', 'the set', `at rest only after ${Math.round(restedMs)} ms`);
  }

  private async unrest(): Promise<string[]> {
    const { set } = this.options;
    const unrest = [
      inEach(this.namespaces, (namespace) => findUnrest(set.client, namespace)),
      inEach(this.namespaces, (namespace) => findLedRoutes(set.client, namespace)),
      this.lifetimes.findUnrest(),
      findQueued(set),
      findOpenIntents(set),
    ];
    return (await Promise.all(unrest)).flat();
  }

  private found(check: string, subject: string, problem: string): void {
    this.add([{ check, subject, problem }]);
  }

  private add(found: readonly Violation[]): void {
    this.violations.push(...found);
    for (const { check, problem, subject } of found.slice(0, 10))
      this.options.say(`VIOLATION ${check}: ${subject}: ${problem}`);
  }
}

/** Faults that hit the same process at once would end each other; of these, one is under way at a time. */
const MOST_AT_ONCE = 2;

interface FaultsOptions {
  readonly set: ChaosSet;
  readonly probes: Probes;
  readonly patience: number;
  readonly say: (line: string) => void;
  readonly found: (check: string, subject: string, problem: string) => void;
}

/** Makes the faults of one round at their times; resolves once all of them are over and everything is back. */
async function makeFaults(
  schedule: readonly ScheduledFault[],
  { found, patience, probes, say, set }: FaultsOptions,
): Promise<FaultRecord[]> {
  const startedMs = performance.now();
  const underWay = new Set<Promise<void>>();
  const records: Promise<FaultRecord>[] = [];
  for (const { atMs, dice, kind, strength } of schedule) {
    await pause(Math.max(startedMs + atMs - performance.now(), 0));
    while (underWay.size >= MOST_AT_ONCE) await Promise.race(underWay);
    const began = (target: string): void => {
      say(`${kind}: ${target}`);
      records.push(
        probes.measure(kind).then(
          (recoveredMs) => ({ kind, target, recoveredMs }),
          () => ({ kind, target, recoveredMs: undefined }),
        ),
      );
    };
    const failed = (problem: string): void => found('stop', kind, problem);
    const fault: Promise<void> = FAULTS[kind]({ set, strength, dice, patience, began, failed })
      .catch((error: unknown) => found('back', kind, String(error)))
      .finally(() => underWay.delete(fault));
    underWay.add(fault);
  }
  await Promise.all(underWay);
  return Promise.all(records);
}
