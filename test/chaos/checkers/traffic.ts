import { isDeepStrictEqual } from 'node:util';
import { parseDuration } from '../../../src/machinery/clock/index.js';
import type {
  Deployment,
  EndpointSlice,
  KubernetesObject,
  Pod,
  ReplicaSet,
} from '../../../src/machinery/kubernetes/index.js';
import type { LedVersion, LedVersions } from '../../../src/testing/traffic-rules.js';
import { brokenTrafficRules } from '../../../src/testing/traffic-rules.js';
import type { HistoryEvent } from '../history.js';
import type { LedRoute } from './led-route.js';
import { editsIn, foreignPartsOf, percentsOf, servicesLedBy } from './led-route.js';
import type { StoreReplay } from './store-replay.js';
import { isReadyPod, ownerOf } from './store-replay.js';
import type { Violation } from './violation.js';

const P = 'rollkeeper.dev/';
const HASH = 'pod-template-hash';
const SERVICE_NAME = 'kubernetes.io/service-name';

/** The knowledge of the one who decides. */
export interface TrafficKnowledge {
  /** The longest time for which a cache may show pods that are not ready any more, milliseconds. @default 30000 */
  readonly lagMs?: number;
  /** How far the wall clocks of two replicas, and the times of the recorded changes, may differ, milliseconds. @default 1000 */
  readonly clocksDifferMs?: number;
}

type Selector = Readonly<Record<string, string>>;

/**
 * (h) Of routes that rollouts lead, at every change: the weights of the two Services are 100 together; no Service gets requests before its
 * endpoints have shown a ready pod of the version that it selects; the rules of `brokenTrafficRules` hold; and all else in the
 * route stays. Call after the change was applied to the replay.
 */
export class TrafficChecker {
  checks = 0;
  /** By the name of a Deployment, which its route has as well. */
  readonly routes = new Map<string, LedRoute>();
  private readonly selectors = new Map<string, Selector>();
  private readonly slices = new Map<string, EndpointSlice>();
  /** By Service and hash, when its endpoints last had a ready pod of that version. */
  private readonly hadEndpointsAtMs = new Map<string, number>();
  /** The ReplicaSets of ready pods. */
  private readonly readyPods = new Map<string, string>();
  /** By ReplicaSet, when a pod of it was ready last. */
  private readonly wasReadyAtMs = new Map<string, number>();
  private readonly states = new Map<string, LedState>();
  private readonly lagMs: number;
  private readonly clocksDifferMs: number;

  constructor(
    private readonly replay: StoreReplay,
    { clocksDifferMs = 1000, lagMs = 30_000 }: TrafficKnowledge = {},
  ) {
    this.lagMs = lagMs;
    this.clocksDifferMs = clocksDifferMs;
  }

  check(event: HistoryEvent): Violation[] {
    const { kind, object, resourceVersion, seenAtMs } = event;
    const { name } = object.metadata;
    const problems = kind === 'HTTPRoute' ? this.noteRoute(event) : [];
    if (kind === 'Pod') this.notePod(event);
    if (kind === 'Service') this.noteService(event);
    if (kind === 'EndpointSlice') note(this.slices, event, object as EndpointSlice);
    if (this.routes.size === 0) return [];
    if (kind === 'EndpointSlice' || kind === 'Service') this.noteEndpoints(seenAtMs);
    for (const deployment of this.concernedBy(event))
      problems.push(...this.judge(deployment, seenAtMs, kind === 'Deployment'));
    return problems.map((problem) => ({
      check: 'traffic',
      subject: name,
      problem: `${problem} (revision ${resourceVersion})`,
    }));
  }

  private noteRoute({ deleted, object, seenAtMs }: HistoryEvent): string[] {
    const { name } = object.metadata;
    const route = object as LedRoute;
    const before = this.routes.get(name);
    note(this.routes, { deleted, object }, route);
    if (deleted) return [];
    const services = servicesLedBy(name);
    const [now, was] = [percentsOf(route, services), before && percentsOf(before, services)];
    const problems: string[] = [];
    if (JSON.stringify(now) !== JSON.stringify(was)) {
      this.checks += 1;
      if (now.stable + now.canary !== 100) problems.push(`the weights are ${now.stable} and ${now.canary}`);
      if (was && now.canary + now.added > 0 && was.canary + was.added === 0)
        problems.push(...this.endpointProblem(services.canary, seenAtMs));
      if (was && now.stable > 0 && was.stable === 0)
        problems.push(...this.endpointProblem(services.stable, seenAtMs));
    }
    const isKept =
      !before || isDeepStrictEqual(foreignPartsOf(before, services), foreignPartsOf(route, services));
    if (!isKept || (before && editsIn(before) > editsIn(route)))
      problems.push('what others wrote in the route was changed');
    return problems;
  }

  /** A Service that selects no version alone has the endpoints of all. */
  private endpointProblem(service: string, nowMs: number): string[] {
    const hash = this.selectors.get(service)?.[HASH];
    const sinceMs = this.hadEndpointsAtMs.get(`${service} ${hash}`) ?? -Infinity;
    if (hash === undefined || nowMs - sinceMs <= this.lagMs) return [];
    return [`${service} gets requests, and has had no ready endpoint of the version ${hash}`];
  }

  private notePod({ deleted, object, seenAtMs }: HistoryEvent): void {
    const pod = object as Pod;
    const { uid = '' } = pod.metadata;
    const owner = ownerOf(pod);
    const isReady = !deleted && isReadyPod(pod);
    if (isReady && owner !== undefined) this.readyPods.set(uid, owner);
    else if (this.readyPods.delete(uid) && owner !== undefined) this.wasReadyAtMs.set(owner, seenAtMs);
  }

  private noteService({ deleted, object }: HistoryEvent): void {
    const { spec } = object as KubernetesObject & { readonly spec?: { readonly selector?: Selector } };
    note(this.selectors, { deleted, object }, spec?.selector ?? {});
  }

  /** A pod has the name of its ReplicaSet, which ends with the hash. */
  private noteEndpoints(nowMs: number): void {
    for (const { endpoints, metadata } of this.slices.values()) {
      const service = metadata.labels?.[SERVICE_NAME] ?? '';
      const hash = this.selectors.get(service)?.[HASH];
      const isOfVersion = (endpoints ?? []).some(
        ({ conditions, targetRef }) =>
          conditions?.ready !== false && hash !== undefined && targetRef?.name?.includes(`-${hash}-`),
      );
      if (isOfVersion) this.hadEndpointsAtMs.set(`${service} ${hash}`, nowMs);
    }
  }

  private concernedBy(event: HistoryEvent): readonly Deployment[] {
    const { kind, object } = event;
    if (kind === 'EndpointSlice' || kind === 'Pod') return [];
    if (kind === 'Deployment' && event.deleted) this.states.delete(object.metadata.uid ?? '');
    const one = this.replay.deploymentOf(event);
    const all = kind === 'HTTPRoute' || kind === 'Service' ? [...this.replay.deployments.values()] : [one];
    return all.filter((each) => each !== undefined).filter(isLed);
  }

  private judge(deployment: Deployment, nowMs: number, isOfDeployment: boolean): string[] {
    const { uid = '' } = deployment.metadata;
    const state = this.states.get(uid) ?? new LedState();
    this.states.set(uid, state);
    state.noteWanted(deployment);
    const after = this.versionsOf(deployment, nowMs);
    const { before = after } = state;
    state.before = after;
    // A change of what is wanted changes no version.
    if (isOfDeployment) return [];
    this.checks += 1;
    return brokenTrafficRules(withReadyOf(after, before), after, {
      isDynamic: deployment.metadata.annotations?.[`${P}traffic-stable`] === 'dynamic',
      replicas: state.leastWanted,
      nowMs,
      drainMs: Math.max(0, drainMsOf(deployment) - this.clocksDifferMs),
      sharedAtMs: state.sharedAtMs,
    });
  }

  private versionsOf({ metadata }: Deployment, nowMs: number): LedVersions {
    const services = servicesLedBy(metadata.name);
    const route = this.routes.get(metadata.name);
    const { added, canary, stable } = route ? percentsOf(route, services) : NO_SHARES;
    const owned = this.replay.replicaSetsOf(metadata.uid ?? '');
    return new Map(
      owned.map((set): [string, LedVersion] => {
        const ready = this.readyOf(set, nowMs);
        const isStable = this.selects(services.stable, set);
        const isCanary = this.selects(services.canary, set);
        const weight = (isStable ? stable : 0) + (isCanary ? canary : 0);
        const share = weight + (isCanary ? added : 0);
        return [set.metadata.name, { size: set.spec.replicas ?? 1, ready, share, weight, isStable }];
      }),
    );
  }

  /** A Service that selects no version alone, as at first, leads nothing yet: it sends requests to all pods that are ready. */
  private selects(service: string, { spec }: ReplicaSet): boolean {
    const selector = this.selectors.get(service);
    const labels = spec.template?.metadata?.labels ?? {};
    if (selector?.[HASH] === undefined) return false;
    return Object.entries(selector).every(([label, value]) => labels[label] === value);
  }

  private readyOf({ metadata: { uid = '' } }: ReplicaSet, nowMs: number): number {
    const ready = this.replay.podsOf(uid).filter(isReadyPod).length;
    const wasReady = nowMs - (this.wasReadyAtMs.get(uid) ?? -Infinity) <= this.lagMs;
    return Math.max(ready, wasReady ? 1 : 0);
  }
}

const NO_SHARES = { stable: 0, canary: 0, added: 0 };

/** The memory of one Deployment. */
class LedState {
  before: LedVersions | undefined;
  readonly sharedAtMs = new Map<string, number>();
  private readonly wanted = new Map<number, number>();

  /** The sizes of all specs that the controller may not have seen a successor of. */
  noteWanted({ metadata: { generation = 0 }, spec, status }: Deployment): void {
    this.wanted.set(generation, spec.replicas ?? 1);
    const observed = status?.observedGeneration ?? 0;
    for (const each of this.wanted.keys()) if (each < observed) this.wanted.delete(each);
  }

  get leastWanted(): number {
    return Math.min(...this.wanted.values());
  }
}

/** Pods change by themselves, which is no change of anybody who decides. */
function withReadyOf(after: LedVersions, before: LedVersions): LedVersions {
  return new Map(
    [...before].map(([name, version]) => [name, { ...version, ready: after.get(name)?.ready ?? 0 }]),
  );
}

function isLed({ metadata }: Deployment): boolean {
  return metadata.annotations?.[`${P}traffic`] !== undefined && metadata.deletionTimestamp === undefined;
}

/** @default the shortest there is: each Deployment of a load says its own */
function drainMsOf({ metadata }: Deployment): number {
  return parseDuration(metadata.annotations?.[`${P}traffic-drain`] ?? '') ?? 0;
}

function note<T>(
  map: Map<string, T>,
  { deleted, object }: Pick<HistoryEvent, 'deleted' | 'object'>,
  value: T,
): void {
  if (deleted) map.delete(object.metadata.name);
  else map.set(object.metadata.name, value);
}
