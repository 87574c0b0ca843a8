import { expect } from 'vitest';
import { SeededRandom } from '../../../machinery/clock/index.js';
import {
  Deployment,
  Pod,
  ReplicaSet,
  compileLabelSelector,
  isPodReady,
  isTerminating,
  parseJson,
  stringifyJson,
  PodDisruptionBudget,
} from '../../../machinery/kubernetes/index.js';
import type { AttemptedWrite } from '../../../testing/in-memory/in-memory-api.js';
import { aBudget } from '../../../testing/budget-builder.js';
import { aDeployment, setImage } from '../../../testing/deployment-builder.js';
import { ConfigMap, Node, Service } from '../../../runtime/index.js';
import { POD_TEMPLATE_HASH, scaledValue } from '../../shared/index.js';
import { parseHostRules } from './checks/check-hosts.js';
import type { HttpSender } from './checks/common/http-sender.js';
import { NoAnswerError } from './checks/common/http-sender.js';
import { JudgedRollout } from '../../../testing/judged-rollout.js';
import { MovedClock } from '../../../testing/moved-clock.js';
import { WORLD_NOW_MS, refusal, isOfExperiment } from '../../../testing/rollout-world.js';
import { DESIRED_REPLICAS } from '../kubernetes/annotations.js';
import { createDeploymentController } from '../definition.js';
import { podTemplateHash } from '../kubernetes/pod-template.js';
import { EXPERIMENT_SIDE } from './experiment/experiment-sets.js';
import { GatewayWorld, bothServices } from './traffic/gateway-world.fixture.js';
import { HTTPRoute } from './traffic/routes.js';
import type { Change, Scenario } from './policy-scenarios.fixture.js';
import { REFUSED_CPU } from './policy-scenarios.fixture.js';

/*
 * Invariants, for any policies, any order and delay of what the others do, any refusals of the API, and any changes and
 * requests of a person meanwhile:
 *
 * 1. Each size that is written keeps to the limits of that moment (see JudgedRollout).
 * 2. Of a template that has failed and is not retried, no ReplicaSet grows, as long as a good one is left.
 * 3. A version that was never complete is not larger than the steps that have been allowed to it.
 * 4. Under a freeze no version begins that has no ReplicaSet yet.
 * 5. The size that the Deployment asks for is never changed.
 * 6. Once a person wants a version that works, and nothing holds it, it runs alone in the end.
 * 7. Where it restarts on its configuration, no pod is left that was started before the last change of it.
 * 8. The revision that runs in the end says how it came about, and that it is complete.
 * 9. Where a Service moves between two versions, what it selects has pods that are available at the move, and keeps its size until the
 *    Service has moved away.
 * 10. A version whose check has not passed is not larger than the step before that check, however the check is measured.
 * 11. Where it respects a disruption budget, no write of a rollout leaves fewer ready pods than the budget wants, also when drains evict
 *    pods meanwhile and the budget's status is behind; where fewer are left already, it takes none.
 * 12. Pods have the resources that are asked for in the end, whether they were resized or replaced.
 * 13. For a history that lasts, the last noted size of each ReplicaSet is the one that it has in the end, and no number is left out.
 * 14. Where the configuration is pinned, every pod of a pinned version reads a copy, which has the content that the version was rolled out
 *    with, also if the original is changed or deleted.
 * 15. In the end pods have the labels of the template, whether they were relabeled or replaced.
 * 16. Where the requests are led by weights, these are 100 together, and no write gives more of them, nor requests with a header, to a
 *    version without a ready pod while the other has one. In the end the stable Service has all, and nothing else is left in the route.
 * 17. A Service of an experiment selects the pods of one of its ReplicaSets, which owns it, and none of the Deployment. None is left after
 *    its step.
 */
const P = 'rollkeeper.dev/';
/** The answers of Prometheus to each query; undefined: it is unavailable. */
export const prometheus = { slo: '0', later: '0' } as Record<string, string | undefined>;
const sender: HttpSender = {
  async send({ url }) {
    const value = prometheus[new URL(url).searchParams.get('query') ?? ''];
    if (value === undefined) throw new NoAnswerError('away');
    const data = { resultType: 'scalar', result: [1, value] };
    return { status: 200, body: stringifyJson({ status: 'success', data }) };
  },
};
const CHECKS = Object.fromEntries(
  ['slo', 'later'].map((query) => {
    const asked = { address: 'http://prometheus.test', query, condition: '< 1' };
    return [query, stringifyJson({ prometheus: asked, interval: '1m' })];
  }),
);
const WATCHING = createDeploymentController({
  restartOnConfig: true,
  pinConfig: true,
  respectDisruptionBudgets: true,
  blueGreen: true,
  traffic: true,
  experimentServices: true,
  checks: { hosts: parseHostRules('prometheus.test', 'check-hosts'), sender },
  zones: true,
  drainSessions: true,
  watchAdmission: true,
  evictionRequests: true,
});

export class PolicyWorld {
  readonly clock = new MovedClock(WORLD_NOW_MS);
  readonly world: JudgedRollout;
  readonly random: SeededRandom;
  refusing = false;
  readonly gateway: GatewayWorld;
  private frozenImages: ReadonlySet<string> | undefined;

  constructor(private readonly drawn: Scenario) {
    Object.assign(prometheus, { slo: '0', later: '0' });
    this.random = new SeededRandom(drawn.seed);
    this.world = new JudgedRollout({
      deployment: deploymentOf(drawn),
      random: this.random,
      clock: this.clock,
      controller: WATCHING,
      onWrite: (write) => {
        this.judge(write);
        if (this.refusing && this.random.next() < drawn.refusals)
          throw refusal(write.type === Deployment ? 500 : 409);
      },
    });
    this.gateway = new GatewayWorld(this.world);
    if (drawn.traffic !== undefined) this.putGateway();
    this.world.startsExperiments = true;
    this.world.nodeOf = (pod) => `node-${pod % 3}`;
    this.world.resizeAnswer = (pod) =>
      pod.spec.nodeName === 'node-0' && cpuOf(pod) === REFUSED_CPU ? { reason: 'Infeasible' } : undefined;
    this.world.zoneOf = (node) => node;
    for (const name of ['node-0', 'node-1', 'node-2']) this.world.api.seed(Node, aNode(name));
    if (drawn.budget) this.world.api.seed(PodDisruptionBudget, aBudget(drawn.budget));
    if (drawn.blueGreen) for (const name of ['web', 'preview']) this.putService(name);
    const metadata = { namespace: 'default', name: 'rollkeeper-checks' };
    this.world.api.seed(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: CHECKS });
  }

  async apply(change: Change): Promise<void> {
    if ('minutes' in change) return this.clock.move(change.minutes * 60_000);
    if ('roomFor' in change) return this.limitRoom(change.roomFor);
    if ('lost' in change) return this.lose(change.lost);
    if ('config' in change) return this.configure(change.config);
    if ('led' in change) return this.lead(change.led);
    if ('prometheus' in change) return void (prometheus['slo'] = change.prometheus);
    this.world.change((deployment) => applyTo(deployment, change));
    if ('freeze' in change) this.frozenImages = change.freeze ? this.images() : undefined;
  }

  /** Some moves of others come before the gateway has seen the route, or before the endpoints follow. */
  private putGateway(): void {
    const random = new SeededRandom(this.drawn.seed);
    this.gateway.putRoute([bothServices()]);
    this.world.onMove = () => {
      if (!this.refusing || random.next() < 0.5) this.gateway.serveRoutes();
      if (!this.refusing || random.next() < 0.5) this.gateway.fillEndpoints();
    };
  }

  private lead(isLed: boolean): void {
    const { traffic } = this.drawn;
    if (traffic === undefined) return;
    this.world.change((deployment) => {
      annotate(deployment, 'traffic', isLed ? 'httproute/web' : undefined);
      annotate(deployment, 'steps', isLed ? traffic : undefined);
    });
  }

  private limitRoom(more: number | undefined): void {
    this.world.room = more === undefined ? Infinity : this.world.allPods.length + more;
  }

  /** Pods that were ready are not, and their ReplicaSets have said so: before that no controller could know. */
  private async lose(count: number): Promise<void> {
    for (const pod of this.world.availablePods.slice(0, count))
      this.world.api.seed(Pod, { ...pod, status: { ...pod.status, conditions: [] } });
    for (const replicaSet of this.world.replicaSets) await this.world.syncReplicaSet(replicaSet);
  }

  /** Undefined: it goes. */
  private async configure(value: string | undefined): Promise<void> {
    const { api } = this.world;
    const metadata = { namespace: 'default', name: 'web' };
    const isThere = api.all(ConfigMap).some(({ metadata: { name } }) => name === 'web');
    if (value !== undefined)
      api.seed(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: value } });
    else if (isThere) await api.delete(ConfigMap, metadata);
  }

  /**
   * Rule 11. What follows a change of `replicas` is no rollout: it is known by the size that the ReplicaSet was a part of. A paused
   * Deployment rolls nothing out either, and the one ReplicaSet that has pods is given all of `replicas` in a pass of its own.
   */
  private judgeBudget(written: ReplicaSet, before: ReplicaSet): void {
    const { budgets, deployment, replicaSets } = this.world;
    const { replicas = 1 } = deployment.spec;
    // A Deployment that wants no pods removes them all, in as many writes as that takes.
    const wasPartOf = before.metadata.annotations?.[DESIRED_REPLICAS];
    if (replicas === 0 || wasPartOf !== String(replicas)) return;
    // Under `autoscaling` another size than that of the spec may begin to count, as it may after a pause.
    if (written.metadata.annotations?.[DESIRED_REPLICAS] !== wasPartOf) return;
    const others = replicaSets.filter(({ metadata }) => metadata.uid !== before.metadata.uid);
    if (deployment.spec.paused && others.every(({ spec }) => spec.replicas === 0)) return;
    const after = [...others, written];
    const [left, was] = [this.ready(after), this.ready(replicaSets)];
    for (const budget of left < was ? budgets : [])
      expect(left, 'rule 11').toBeGreaterThanOrEqual(wantedBy(budget, replicas));
  }

  private ready(replicaSets: readonly ReplicaSet[]): number {
    return replicaSets.reduce((sum, set) => {
      const ready = this.world.podsOf(set).filter((pod) => isPodReady(pod) && !isTerminating(pod)).length;
      return sum + Math.min(ready, set.spec.replicas ?? 1);
    }, 0);
  }

  private images(): ReadonlySet<string> {
    return new Set(this.world.replicaSets.map(imageOf));
  }

  /** Creates the Service as a user does who does not know of the hash. */
  private putService(name: string): void {
    const metadata = { namespace: 'default', name, uid: `uid-of-service-${name}` };
    const spec = { selector: { app: 'web' } };
    this.world.api.seed<Service>(Service, { apiVersion: 'v1', kind: 'Service', metadata, spec });
  }

  private get activeHash(): string | undefined {
    const services = this.world.api.all<Service>(Service);
    return services.find(({ metadata }) => metadata.name === 'web')?.spec.selector?.[POD_TEMPLATE_HASH];
  }

  /** Rule 17. */
  private judgeSideService(service: Service): void {
    const { uid } = service.metadata.ownerReferences?.[0] ?? {};
    const owner = this.world.experimentSets.find(({ metadata }) => metadata.uid === uid);
    const selects = compileLabelSelector({ matchLabels: service.spec.selector ?? {} });
    expect(selects(owner?.spec.template?.metadata?.labels), 'rule 17').toBe(true);
    const others = [...this.world.replicaSets, ...this.world.experimentSets].filter((set) => set !== owner);
    for (const { spec } of others) expect(selects(spec.template?.metadata?.labels), 'rule 17').toBe(false);
  }

  private judgeMove({ object, ref }: AttemptedWrite): void {
    if (this.drawn.traffic !== undefined) return;
    const hash = (object as Service).spec.selector?.[POD_TEMPLATE_HASH];
    // If no pods are wanted, there are none to select.
    if (ref.name !== 'web' || typeof hash !== 'string' || this.world.deployment.spec.replicas === 0) return;
    const selected = this.world.replicaSets.find((set) => hashOf(set) === hash);
    const pods = selected ? this.world.podsOf(selected) : [];
    // A pod that is gone before its ReplicaSet has seen it go: nothing shows that to the controller.
    const isGoneUnseen = pods.length === 0 && (selected?.status?.availableReplicas ?? 0) > 0;
    const available = pods.filter((pod) => this.world.isServing(pod));
    if (!isGoneUnseen) expect(available.length, 'rule 9, a move to nothing').toBeGreaterThan(0);
  }

  private judge(write: AttemptedWrite): void {
    const { object, type, verb } = write;
    const { deployment, replicaSets } = this.world;
    if (type === PodDisruptionBudget) return;
    if (type.resource === HTTPRoute.resource) return this.gateway.judge(write.object);
    if (type.resource === Service.resource)
      return isSideService(object as Service)
        ? this.judgeSideService(object as Service)
        : this.judgeMove(write);
    if (type.resource === Pod.resource || type.resource === ConfigMap.resource) return;
    if (type !== ReplicaSet) {
      expect((object as Deployment).spec.replicas, 'rule 5').toBe(deployment.spec.replicas);
      return;
    }
    if (verb !== 'create' && verb !== 'update') return;
    const written = object as ReplicaSet;
    // A Deployment does not count it.
    if (isOfExperiment(written)) return;
    const before = replicaSets.find(({ metadata }) => metadata.name === written.metadata.name);
    if (before) this.judgeBudget(written, before);
    const grows = (written.spec.replicas ?? 1) > (before?.spec.replicas ?? 0);
    const least = Math.min(before?.spec.replicas ?? 0, deployment.spec.replicas ?? 1);
    if (this.drawn.blueGreen && hashOf(written) === this.activeHash)
      expect(written.spec.replicas, 'rule 9, what is served goes').toBeGreaterThanOrEqual(least);
    if (verb === 'create' && this.frozenImages && this.frozenImages.size > 0 && !deployment.spec.paused)
      expect([...this.frozenImages], 'rule 4').toContain(imageOf(written));
    if (grows && before && isEnforced(deployment) && !deployment.spec.paused)
      expect(failedTemplates(deployment, replicaSets), 'rule 2').not.toContain(templateOf(written));
  }
}

/** How many pods the budget wants, by its spec and not by its status. */
function wantedBy({ spec }: PodDisruptionBudget, replicas: number): number {
  const { maxUnavailable, minAvailable = 0 } = spec ?? {};
  if (maxUnavailable === undefined) return scaledValue(minAvailable, replicas, Math.ceil);
  return Math.max(0, replicas - scaledValue(maxUnavailable, replicas, Math.ceil));
}

function isEnforced({ metadata }: Deployment): boolean {
  return metadata.annotations?.[`${P}on-failure`] !== 'none' && !metadata.annotations?.[`${P}retry`];
}

/**
 * The templates that are not retried: none where nothing good is left to go back to. Not their ReplicaSets, which have
 * another template after a resize in place.
 */
function failedTemplates({ metadata }: Deployment, replicaSets: readonly ReplicaSet[]): string[] {
  const text = metadata.annotations?.[`${P}failed`];
  if (text === undefined) return [];
  const failures = parseJson(text) as { template: string; stopped?: true }[];
  const templates = failures.map(({ template }) => template);
  const isLeft = replicaSets.some(
    (set) => set.metadata.annotations?.[`${P}good-since`] && !templates.includes(templateOf(set)),
  );
  return isLeft ? failures.filter(({ stopped }) => !stopped).map(({ template }) => template) : [];
}

function templateOf({ spec }: ReplicaSet): string {
  return podTemplateHash(spec.template ?? {});
}

function deploymentOf(drawn: Scenario): Deployment {
  const { bakeTime, blueGreen, budget, checks, failAfter, maxUnavailable, onFailure, replicas } = drawn;
  const { restartOn } = drawn;
  const maxSurge = blueGreen ? '100%' : drawn.maxSurge;
  const steps = blueGreen ? undefined : drawn.steps;
  const settings = {
    history: drawn.seed % 2 === 0 ? '14d' : undefined,
    ...(drawn.traffic !== undefined && { traffic: 'httproute/web' }),
    'on-failure': onFailure,
    'fail-after': failAfter,
    'bake-time': bakeTime,
    'restart-on': restartOn,
    'pod-replacement': drawn.podReplacement,
    resize: drawn.resize,
    autoscaling: drawn.autoscaling,
    config: drawn.config,
    relabel: drawn.relabel,
    surge: drawn.surge,
    ...(drawn.isMarked && {
      'canary-labels': 'role=canary',
      'stable-labels': 'role=stable',
      'failed-pods': 'keep 3, 1h',
      'keep-old': 'until "http :8080/sessions == 0", at most 1h, at most 2',
      'progress-after': '5m',
      spread: 'after-rollout',
    }),
    zones: blueGreen || budget ? undefined : drawn.zones,
    'disruption-budgets': budget && 'respect',
    ...(blueGreen && {
      strategy: 'blue-green',
      'active-service': 'web',
      'preview-service': 'preview',
      'auto-promote': blueGreen,
    }),
    steps,
    checks,
  };
  const annotations = Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [[P + name, value]])),
  );
  const rollingUpdate = { maxSurge, maxUnavailable };
  const deployment = aDeployment({
    replicas,
    annotations,
    strategy: { type: 'RollingUpdate', rollingUpdate },
  });
  const [container] = deployment.spec.template.spec?.containers ?? [];
  if (container)
    Object.assign(container, {
      envFrom: [{ configMapRef: { name: 'web', optional: true } }],
      resources: { requests: { cpu: '100m' } },
      ports: [{ containerPort: 8080 }],
    });
  return deployment;
}

function applyTo(deployment: Deployment, change: Change): void {
  if ('image' in change) setImage(deployment, change.image);
  if ('replicas' in change) deployment.spec.replicas = change.replicas;
  const [container] = deployment.spec.template.spec?.containers ?? [];
  if ('cpu' in change && container) container.resources = { requests: { cpu: change.cpu } };
  if ('team' in change) label(deployment, change.team);
  if ('paused' in change) deployment.spec.paused = change.paused;
  if ('ask' in change) annotate(deployment, change.ask, 'alice');
  if ('freeze' in change) annotate(deployment, 'freeze', change.freeze ? 'for now' : undefined);
}

/** Changes a label of the template, which no selector looks at. */
function label({ spec: { template } }: Deployment, team: string | undefined): void {
  const { team: _before, ...labels } = template.metadata?.labels ?? {};
  template.metadata = { ...template.metadata, labels: team === undefined ? labels : { ...labels, team } };
}

export function annotate({ metadata }: Deployment, name: string, value: string | undefined): void {
  const { [P + name]: _before, ...others } = metadata.annotations ?? {};
  metadata.annotations = value === undefined ? others : { ...others, [P + name]: value };
}

/** A zone of its own. */
function aNode(name: string): Node {
  const metadata = { name, uid: `uid-of-${name}`, labels: { 'topology.kubernetes.io/zone': name } };
  return { apiVersion: 'v1', kind: 'Node', metadata };
}

function hashOf({ metadata }: ReplicaSet): string | undefined {
  return metadata.labels?.[POD_TEMPLATE_HASH];
}

export function cpuOf({ spec }: Pod): string | number | undefined {
  return spec.containers[0]?.resources?.requests?.['cpu'];
}

export function imageOf({ spec }: ReplicaSet): string {
  return spec.template?.spec?.containers[0]?.image ?? '';
}

/** Whether a Service is one of an experiment's own. */
export function isSideService({ metadata }: Service): boolean {
  return metadata.labels?.[EXPERIMENT_SIDE] !== undefined;
}

export async function rest({ world }: PolicyWorld): Promise<void> {
  let before = -1;
  for (let round = 0; round < 80 && world.api.changes !== before; round++) {
    before = world.api.changes;
    await world.sync();
    await world.settle();
  }
  expect(world.api.changes, 'it comes to rest').toBe(before);
}

export async function live(drawn: Scenario, changes: readonly Change[]): Promise<PolicyWorld> {
  const lab = new PolicyWorld(drawn);
  const { random, world } = lab;
  await rest(lab);
  lab.refusing = true;
  for (const each of changes) {
    await lab.apply(each);
    for (let moves = Math.floor(random.next() * 25); moves > 0; moves--) await world.move();
    if (random.next() < 0.3) lab.clock.move(60_000);
  }
  lab.refusing = false;
  return lab;
}
