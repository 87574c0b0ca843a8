import fc from 'fast-check';
import { expect } from 'vitest';
import { SeededRandom } from '../../machinery/clock/index.js';
import type { Node } from '../../machinery/kubernetes/index.js';
import { Pod, isTerminating, semanticEqual, stringifyJson } from '../../machinery/kubernetes/index.js';
import { ConfigMap, DaemonSet } from '../../runtime/index.js';
import type { AttemptedWrite } from '../../testing/in-memory/in-memory-api.js';
import { refusal } from '../../testing/rollout-world.js';
import { fitOf } from '../daemonset/daemon-pod.js';
import { REVISION, parseHostRules, readRevisionEntries } from '../deployment/index.js';
import { isPodAvailable } from '../shared/index.js';
import { DaemonLab, nodeOf } from './daemon-lab.fixture.js';
import { P, imageOf, withImage } from './set-lab.fixture.js';

const MINUTE = 60_000;
const NODES = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Steps, and on how many nodes a version may be that has not been approved. */
const STEPS: readonly { readonly steps: string; readonly most: (nodes: number) => number }[] = [
  { steps: '1; approve', most: () => 1 },
  { steps: '25%; approve', most: (nodes) => Math.ceil(nodes / 4) },
  { steps: '1; wait 2m; 50%; approve', most: (nodes) => Math.max(1, Math.ceil(nodes / 2)) },
  { steps: '1; check slo; approve', most: () => 1 },
];
type Strategy = NonNullable<DaemonSet['spec']['updateStrategy']>;
const STRATEGIES: readonly Strategy[] = [
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
  { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%' } },
  { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  { type: 'RollingUpdate' },
  { type: 'OnDelete' },
];

export const scenario = fc.record({
  seed: fc.integer(),
  nodes: fc.integer({ min: 0, max: 5 }),
  strategy: fc.constantFrom(...STRATEGIES),
  steps: fc.nat({ max: STEPS.length - 1 }),
  /** How many of the writes are refused, and of how many the answer is lost. */
  refusals: fc.double({ min: 0, max: 0.2, noNaN: true }),
  lost: fc.double({ min: 0, max: 0.2, noNaN: true }),
  onFailure: fc.constantFrom('none', 'rollback'),
  failAfter: fc.constantFrom(undefined, '1m'),
  bakeTime: fc.constantFrom(undefined, '3m'),
  minReadySeconds: fc.constantFrom(0, 30),
});
export const change = fc.oneof(
  fc.record({ image: fc.constantFrom('db:1', 'db:2', 'db:3', 'db:broken') }),
  fc.record({ pool: fc.constantFrom(undefined, 'fast', 'none') }),
  fc.record({ ask: fc.constantFrom('approve', 'abort', 'retry') }),
  fc.record({ hold: fc.constantFrom('freeze', 'window', undefined) }),
  fc.record({ minutes: fc.integer({ min: 1, max: 12 }) }),
  fc.record({
    node: fc.constantFrom(...NODES),
    becomes: fc.constantFrom('added', 'removed', 'down', 'up', 'NoSchedule', 'NoExecute', 'untainted'),
  }),
  /** The pod on a node is deleted by a person. */
  fc.record({ deleted: fc.constantFrom(...NODES) }),
  fc.record({ slo: fc.constantFrom('0', '1') }),
  /** A person gives the strategy back by hand. */
  fc.constant({ byHand: true as const }),
  fc.constant({ rest: true as const }),
);
export type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;
export type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

const CHECK = stringifyJson({
  prometheus: { address: 'http://prometheus.test', query: 'slo', condition: '< 1' },
  interval: '1m',
});

/** A DaemonSet under policies, and all that happens to it; the rules are in the property. */
export class DaemonSetWorld {
  readonly lab: DaemonLab;
  private readonly random: SeededRandom;
  private isRefusing = false;
  private isOurs = false;
  private slo = '0';
  /** The versions that may be on any number of nodes: those that were approved. */
  private readonly allowed = new Set<string>();
  /** The versions that all nodes have had, available. */
  private readonly whole = new Set<string>();
  /** A person may get any version again that was asked for. */
  private isRetried = false;
  /** While no rollout may begin: the versions that had begun before. */
  private held: ReadonlySet<string> | undefined;

  constructor(private readonly drawn: Scenario) {
    this.random = new SeededRandom(drawn.seed);
    const { bakeTime, failAfter, minReadySeconds, nodes, onFailure, strategy } = drawn;
    const sender = {
      send: async () => {
        const data = { resultType: 'scalar', result: [1, this.slo] };
        return { status: 200, body: stringifyJson({ status: 'success', data }) };
      },
    };
    this.lab = new DaemonLab(
      {
        steps: STEPS[drawn.steps]?.steps ?? '',
        'on-failure': onFailure,
        ...(failAfter !== undefined && { 'fail-after': failAfter }),
        ...(bakeTime !== undefined && { 'bake-time': bakeTime }),
      },
      {
        nodes: NODES.slice(0, nodes),
        spec: { updateStrategy: strategy, minReadySeconds },
        checks: { hosts: parseHostRules('prometheus.test', 'check-hosts'), sender },
        onWrite: (write) => {
          if (this.isOurs) this.judge(write);
          if (this.isRefusing && this.random.next() < drawn.refusals) throw refusal(500);
        },
        onAnswer: () => {
          if (this.isRefusing && this.random.next() < drawn.lost) throw refusal(500);
        },
      },
    );
    const metadata = { namespace: 'default', name: 'rollkeeper-checks' };
    this.lab.api.seed(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { slo: CHECK } });
  }

  async begin(): Promise<void> {
    await this.comesToRest();
    await this.passes(5 * MINUTE);
    this.whole.add(this.asked);
    this.isRefusing = true;
  }

  async apply(change: Change): Promise<void> {
    if ('minutes' in change) this.lab.clock.move(change.minutes * MINUTE);
    else if ('slo' in change) this.slo = change.slo;
    else if ('node' in change) await this.changeNode(change.node, change.becomes);
    else if ('deleted' in change) await this.lose(change.deleted);
    else if ('rest' in change) return this.restIsExplained();
    else if ('byHand' in change)
      this.lab.change(({ spec }) => {
        spec.updateStrategy = this.drawn.strategy;
      });
    else if ('image' in change)
      this.lab.change(({ spec }) => {
        spec.template = withImage(spec.template, change.image);
      });
    else if ('pool' in change) this.select(change.pool);
    else if ('ask' in change) this.ask(change.ask);
    else this.hold(change.hold);
    await this.someAct();
  }

  private async changeNode(
    name: string,
    becomes: Extract<Change, { becomes: string }>['becomes'],
  ): Promise<void> {
    const isKnown = this.lab.nodes.some(({ metadata }) => metadata.name === name);
    if (becomes === 'added' && !isKnown) this.lab.addNode(name);
    if (!isKnown) return;
    if (becomes === 'removed') await this.lab.removeNode(name);
    if (becomes === 'down' || becomes === 'up') this.lab.setDown(name, becomes === 'down');
    if (becomes === 'NoSchedule' || becomes === 'NoExecute') this.lab.taint(name, becomes);
    if (becomes === 'untainted') this.lab.taint(name, undefined);
  }

  private async lose(node: string): Promise<void> {
    const pod = this.lab.pods.find((each) => nodeOf(each) === node && !isTerminating(each));
    if (pod) await this.lab.api.delete(Pod, pod.metadata, {}).catch(() => undefined);
  }

  private select(pool: string | undefined): void {
    this.lab.change(({ spec }) => {
      const copy = structuredClone(spec.template);
      if (copy.spec) copy.spec.nodeSelector = pool === undefined ? undefined : { pool };
      if (pool === undefined) delete copy.spec?.nodeSelector;
      spec.template = copy;
    });
  }

  private ask(name: string): void {
    // An approval counts for what waits at that moment.
    if (name !== 'abort') this.allowed.add(this.asked);
    if (name === 'retry') this.isRetried = true;
    this.annotate(name, 'ann');
  }

  private hold(by: 'freeze' | 'window' | undefined): void {
    this.held = by === undefined ? undefined : new Set([...this.begun(), ...(this.held ?? [])]);
    this.annotate('freeze', by === 'freeze' ? 'now' : undefined);
    this.annotate('window', by === 'window' ? '03:00-03:01' : undefined);
  }

  private annotate(name: string, value: string | undefined): void {
    this.lab.change(({ metadata }) => {
      const { [P + name]: _before, ...others } = metadata.annotations ?? {};
      metadata.annotations = value === undefined ? others : { ...others, [P + name]: value };
    });
  }

  /** Some of those that act do so, in any order. A process that dies at a write has made those before it. */
  private async someAct(): Promise<void> {
    for (let acts = 0; acts < 6; acts++) {
      const next = this.random.next();
      if (next < 0.4) await this.look().catch(onlyRefusals);
      else if (next < 0.75) await this.lab.syncGenuine().catch(onlyRefusals);
      else await this.lab.kubelets();
      this.noteWhole();
    }
  }

  private async look(): Promise<void> {
    this.isOurs = true;
    await this.lab.syncOurs().finally(() => (this.isOurs = false));
  }

  private async comesToRest(): Promise<void> {
    for (let rounds = 0, before = -1; before !== this.lab.api.writes.length; rounds++) {
      if (rounds > 200) throw new Error('does not come to rest');
      before = this.lab.api.writes.length;
      await this.look();
      await this.lab.syncGenuine();
      await this.lab.kubelets();
      this.noteWhole();
    }
  }

  private async passes(ms: number): Promise<void> {
    this.lab.clock.move(ms);
    await this.comesToRest();
  }

  /** The version that is asked for. */
  private get asked(): string {
    return versionOf(this.lab.set.spec.template.spec);
  }

  /** The nodes that should have a pod. */
  private get eligible(): readonly Node[] {
    return this.lab.nodes.filter((node) => fitOf(this.lab.set, node).shouldRun);
  }

  private podsOn({ metadata }: Node): readonly Pod[] {
    return this.lab.pods.filter((pod) => nodeOf(pod) === metadata.name && !isTerminating(pod));
  }

  private isAvailable(pod: Pod): boolean {
    return isPodAvailable(pod, this.drawn.minReadySeconds, this.lab.clock.now());
  }

  /** Whether all nodes have a version, available. */
  private isWhole(version: string): boolean {
    return this.eligible.every((node) => {
      const pods = this.podsOn(node);
      return pods.length > 0 && pods.every((pod) => versionOf(pod.spec) === version && this.isAvailable(pod));
    });
  }

  private noteWhole(): void {
    if (this.isWhole(this.asked)) this.whole.add(this.asked);
  }

  private begun(): readonly string[] {
    return this.lab.revisions
      .filter(({ metadata }) => metadata.annotations?.[REVISION] !== undefined)
      .map(({ data }) => versionOf(data?.spec?.template?.spec));
  }

  private judge({ object, ref, type, verb }: AttemptedWrite): void {
    if (type === Pod && verb === 'delete') return this.judgeDeletion(ref.name);
    if (type !== DaemonSet) return;
    const { spec } = (object ?? {}) as Partial<DaemonSet>;
    if (verb === 'patch') {
      expect(Object.keys(spec ?? {}), 'rule 5').toEqual(spec ? ['updateStrategy'] : []);
      return;
    }
    const { template: before, ...others } = this.lab.set.spec;
    const { template: after, ...kept } = spec ?? ({} as DaemonSet['spec']);
    expect(kept, 'rule 5').toEqual(others);
    if (semanticEqual(before, after) || this.isRetried) return;
    expect([...this.whole], 'rule 4').toContain(versionOf(after.spec));
  }

  private judgeDeletion(name: string): void {
    const { asked, eligible } = this;
    const victim = this.lab.pods.find(({ metadata }) => metadata.name === name);
    // It may have been deleted by a write whose answer was lost.
    if (!victim || isTerminating(victim)) return;
    expect(versionOf(victim.spec), 'rule 5').not.toBe(asked);
    const places = eligible.map((node) => this.podsOn(node));
    expect(
      eligible.map(({ metadata }) => metadata.name),
      'rule 5',
    ).toContain(nodeOf(victim));
    const taken = places.filter((pods) => pods.length > 0);
    // The set's controller may not have seen a node yet.
    const desired = Math.min(places.length, this.lab.set.status?.desiredNumberScheduled ?? 0);
    const empty = Math.max(0, desired - taken.length);
    const given = empty + taken.filter((pods) => pods.every(({ spec }) => versionOf(spec) === asked)).length;
    const isFree = this.allowed.has(asked) || this.whole.has(asked);
    if (!isFree) expect(given, 'rule 1').toBeLessThan(STEPS[this.drawn.steps]?.most(desired) ?? Infinity);
    if (this.held && !this.whole.has(asked)) expect([...this.held], 'rule 2').toContain(asked);
    const missing = empty + taken.filter((pods) => !pods.some((pod) => this.isAvailable(pod))).length;
    if (this.isAvailable(victim)) expect(missing, 'rule 3').toBeLessThan(this.maxUnavailable);
  }

  private get maxUnavailable(): number {
    return this.drawn.strategy.rollingUpdate?.maxUnavailable === '50%'
      ? Math.max(1, Math.ceil(this.eligible.length / 2))
      : 1;
  }

  /** At rest it is done, or says why it is not, and looks again by itself if time alone can change that. */
  private async restIsExplained(): Promise<void> {
    this.isRefusing = false;
    await this.comesToRest();
    this.isRefusing = true;
    const [reason = ''] = this.lab.says().split(' ');
    const isDone = this.isWhole(this.asked);
    const about = `${this.lab.versions}: ${this.lab.says()} ${this.lab.says('RolloutPolicy')}`;
    if (reason === 'NewReplicaSetAvailable' || reason === 'RolledBack')
      expect([...this.whole], `rule 6: ${about}`).toContain(this.asked);
    else if (!WAITS.has(reason) && this.lab.says('RolloutPolicy') === '')
      expect(this.lab.ours.requeueAfterMs, `rule 6: ${isDone} ${about}`).toBeDefined();
  }

  /** A person wants a version that works, approves of it, and removes all that is in its way. */
  async settle(image: string): Promise<void> {
    this.isRefusing = false;
    this.slo = '0';
    this.hold(undefined);
    this.annotate('abort', undefined);
    for (const { metadata } of this.lab.nodes) {
      this.lab.setDown(metadata.name, false);
      this.lab.taint(metadata.name, undefined);
    }
    this.select(undefined);
    this.lab.change(({ spec }) => {
      spec.template = withImage(spec.template, image);
    });
    this.allowed.add(this.asked);
    for (let round = 0; round < 8; round++) {
      await this.passes(MINUTE);
      if (this.lab.says().startsWith('WaitingForApproval')) this.annotate('approve', 'ann');
    }
    await this.passes(20 * MINUTE);
    const version = image.replace('db:', '');
    const nodes = this.lab.nodes.length;
    expect(this.lab.versions, `rule 7: ${this.lab.says()}`).toBe(Array(nodes).fill(version).join(' '));
    expect(this.lab.set.spec.updateStrategy?.type, 'rule 7').toBe('OnDelete');
    this.judgeHistory();
  }

  private judgeHistory(): void {
    for (const { data, metadata } of this.lab.revisions) {
      const version = versionOf(data?.spec?.template?.spec);
      const [newest, ...others] = readRevisionEntries(metadata.annotations);
      for (const { ended } of [...(newest ? [newest] : []), ...others])
        if (ended?.as === 'complete') expect([...this.whole], 'rule 8').toContain(version);
      if (version === this.asked)
        expect(newest, 'rule 8').toMatchObject({
          revision: metadata.annotations?.[REVISION],
          ended: { as: 'complete' },
        });
    }
  }

  /** The policies are removed. */
  async leave(): Promise<void> {
    this.lab.change(({ metadata }) => {
      const own = Object.entries(metadata.annotations ?? {}).filter(([name]) => name === `${P}rollout`);
      metadata.annotations = Object.fromEntries(own);
    });
    await this.comesToRest();
    const { metadata, spec } = this.lab.set;
    expect(metadata.annotations, 'rule 9').toEqual({});
    expect(spec.updateStrategy, 'rule 9').toEqual(this.drawn.strategy);
  }
}

const WAITS: ReadonlySet<string> = new Set([
  'RolloutHeld',
  'WaitingInStep',
  'WaitingForApproval',
  'WaitingForCheck',
  'ProgressDeadlineExceeded',
]);

/** A version is an image, and the nodes that it is for. */
function versionOf(
  spec: Parameters<typeof imageOf>[0] & { readonly nodeSelector?: object } = { containers: [] },
): string {
  const { nodeSelector } = spec;
  return nodeSelector ? `${imageOf(spec)} ${stringifyJson(nodeSelector)}` : imageOf(spec);
}

function onlyRefusals(error: unknown): void {
  if ((error as { readonly name?: unknown }).name === 'AssertionError') throw error;
}
