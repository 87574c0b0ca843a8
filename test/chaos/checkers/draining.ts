import { parseDuration } from '../../../src/machinery/clock/index.js';
import type { EndpointSlice, Pod, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import { isOfTemplate } from './policies.js';
import type { StoreReplay } from './store-replay.js';
import { isAtRest, isLiving, isReadyPod, ownerOf } from './store-replay.js';
import type { Violation } from './violation.js';

const P = 'rollkeeper.dev/';
const [LABEL, NOTE, RULE] = [`${P}draining`, `${P}drain`, `${P}keep-old-of-owner`];
const LIMITS = /, at most (?<most>\w+), at most (?<versions>\d+)$/;

/** The truth about pods, and how late the one who decides may know it. */
export interface DrainingKnowledge {
  /** Whether a pod has no session any more. */
  readonly isEmpty: (pod: Pod) => boolean;
  /** Whether a user has asked to delete the pod with this UID. @default no user deletes pods */
  readonly isOfUser?: (uid: string) => boolean;
  /** The longest time for which a cache lags, milliseconds. @default 30000 */
  readonly lagMs?: number;
  /** How far the wall clocks of two replicas may differ, milliseconds. @default 1000 */
  readonly clocksDifferMs?: number;
}

/** A pod that drains. */
interface Draining {
  readonly pod: Pod;
  readonly deployment: string;
  readonly version: string;
  /** When it left, by the clock of its replica, epoch milliseconds. */
  readonly leftMs: number;
  /** When it was seen to leave, milliseconds. */
  readonly seenAtMs: number;
  readonly mostMs: number;
  readonly versions: number;
  isLeaving: boolean;
}

/**
 * (j) Pods of old versions that are kept (`keep-old`) drain. At every change it checks these rules. A ready pod that a ReplicaSet of an old
 * version removes drains. A pod that drains has one label, so that no Service, ReplicaSet or budget selects it, and is in no endpoints written
 * after every cache has shown the label. It never comes back. It is deleted once it is empty, its time is over, or as many newer versions have
 * drained as may, and not before. Call before the change is applied to the replay. `unrest` finds pods that stay longer than they may.
 */
export class DrainingChecker {
  checks = 0;
  private readonly draining = new Map<string, Draining>();
  /** By Deployment, all versions that have drained, with the time when the last of their pods left. */
  private readonly versions = new Map<string, Map<string, number>>();
  /** UIDs of ready pods of an old version, each of which its controller knows to be ready and to drain. */
  private readonly hasToDrain = new Set<string>();
  private readonly readySinceMs = new Map<string, number>();
  private readonly slices = new Map<string, EndpointSlice>();
  private readonly lagMs: number;
  private readonly clocksDifferMs: number;

  constructor(
    private readonly replay: StoreReplay,
    private readonly knowledge: DrainingKnowledge,
  ) {
    this.lagMs = knowledge.lagMs ?? 30_000;
    this.clocksDifferMs = knowledge.clocksDifferMs ?? 1000;
  }

  check(event: HistoryEvent): Violation[] {
    const { kind, object, resourceVersion } = event;
    if (kind === 'ReplicaSet') this.noteRule(event);
    const problems = [
      ...(kind === 'Pod' ? this.podProblems(event) : []),
      ...(kind === 'EndpointSlice' ? this.endpointProblems(event) : []),
    ];
    const subject = object.metadata.name;
    return problems.map((problem) => ({
      ...{ check: 'draining', subject, problem: `${problem} (revision ${resourceVersion})` },
    }));
  }

  /** The signs of pods that stay longer than they may; while nothing else happens, there have to be none. */
  unrest(): string[] {
    const left = [...this.draining.values()].filter(({ isLeaving }) => !isLeaving);
    const shown = new Set(
      [...this.slices.values()].flatMap(({ endpoints }) =>
        (endpoints ?? []).flatMap(({ targetRef }) => targetRef?.uid ?? []),
      ),
    );
    const tooMany = [...Map.groupBy(left, ({ deployment }) => deployment).values()].flatMap((pods) => {
      const versions = new Set(pods.map(({ version }) => version)).size;
      const most = Math.max(...pods.map((each) => each.versions));
      return versions > most ? [`${versions} old versions drain, of which ${most} may`] : [];
    });
    return [
      ...tooMany,
      ...this.setsWithoutRule(),
      ...left
        .filter(({ mostMs, pod }) => mostMs <= SHORT_MS || this.knowledge.isEmpty(pod))
        .map(({ pod }) => `pod ${pod.metadata.name} still drains`),
      ...left
        .filter(({ pod }) => shown.has(pod.metadata.uid ?? ''))
        .map(({ pod }) => `pod ${pod.metadata.name} drains, and is in the endpoints of a Service`),
    ];
  }

  /** Only the ReplicaSet of the version that is asked for is without the rule of its Deployment. */
  private setsWithoutRule(): string[] {
    return [...this.replay.deployments.values()]
      .filter(({ metadata }) => metadata.annotations?.[`${P}keep-old`] !== undefined)
      .flatMap(({ metadata, spec }) => {
        const sets = this.replay.replicaSetsOf(metadata.uid ?? '');
        return sets.filter((set) => !isOfTemplate({ spec }, set.spec));
      })
      .filter(({ metadata }) => metadata.annotations?.[RULE] === undefined)
      .map(
        ({ metadata }) => `ReplicaSet ${metadata.name} is of an old version, and its pods would not drain`,
      );
  }

  /** How many pods drain. */
  get size(): number {
    return this.draining.size;
  }

  /** A size that is written with the rule, or under it, is known to let pods drain: nothing decided before it is to come. */
  private noteRule({ deleted, object }: HistoryEvent): void {
    const uid = object.metadata.uid ?? '';
    const before = this.replay.replicaSets.get(uid);
    const pods = this.replay.podsOf(uid);
    if (deleted || object.metadata.annotations?.[RULE] === undefined || !before) {
      for (const { metadata } of pods) this.hasToDrain.delete(metadata.uid ?? '');
      return;
    }
    const living = pods.filter(isLiving);
    const isKnown = isAtRest(before, living.length) && (before.status?.readyReplicas ?? 0) === living.length;
    if (isKnown && living.every(isReadyPod))
      for (const { metadata } of living) this.hasToDrain.add(metadata.uid ?? '');
  }

  private podProblems(event: HistoryEvent): string[] {
    const { deleted, object, seenAtMs } = event;
    const pod = object as Pod;
    const { deletionTimestamp, uid = '' } = pod.metadata;
    const known = this.draining.get(uid);
    const before = this.replay.pods.get(uid);
    const isLeaving = deleted || deletionTimestamp !== undefined;
    const problems = known
      ? this.problemsOfDraining(known, pod, isLeaving, seenAtMs)
      : this.problemsOfOther(pod, before, isLeaving, seenAtMs);
    // This comes after the judgement: a pod that is about to go is not ready any more.
    if (!isReadyPod(pod)) this.readySinceMs.delete(uid);
    else if (!this.readySinceMs.has(uid)) this.readySinceMs.set(uid, seenAtMs);
    if (known && isLeaving) known.isLeaving = true;
    if (deleted) {
      this.draining.delete(uid);
      this.hasToDrain.delete(uid);
    }
    return problems;
  }

  private problemsOfDraining(known: Draining, pod: Pod, isLeaving: boolean, nowMs: number): string[] {
    this.checks += 1;
    const problems = labelProblems(pod);
    const owner = ownerOf(pod);
    if (owner !== undefined && owner !== known.deployment) problems.push('drains, and belongs to another');
    if (isLeaving && !known.isLeaving && !this.mayGo(known, pod, nowMs))
      problems.push(
        `is deleted after ${Math.round(nowMs - known.seenAtMs)} ms, although it is not empty and may drain`,
      );
    return problems;
  }

  private mayGo(known: Draining, pod: Pod, nowMs: number): boolean {
    const { deployment: owner, leftMs, mostMs, seenAtMs, version, versions } = known;
    const deployment = this.replay.deployments.get(owner);
    const isOver = nowMs - seenAtMs >= mostMs - this.clocksDifferMs;
    const own = this.versions.get(owner)?.get(version) ?? leftMs;
    const newer = [...(this.versions.get(owner) ?? [])].filter(([name, ms]) => name !== version && ms >= own);
    return (
      !isLiving({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: undefined } }) ||
      this.knowledge.isEmpty(pod) ||
      isOver ||
      newer.length >= versions ||
      !deployment ||
      deployment.metadata.deletionTimestamp !== undefined ||
      this.isOfUser(pod)
    );
  }

  private problemsOfOther(pod: Pod, before: Pod | undefined, isLeaving: boolean, nowMs: number): string[] {
    const uid = pod.metadata.uid ?? '';
    const begun = isLeaving ? undefined : drainingOf(pod, nowMs);
    if (begun) {
      this.checks += 1;
      this.draining.set(uid, begun);
      this.hasToDrain.delete(uid);
      const all = this.versions.get(begun.deployment) ?? new Map<string, number>();
      this.versions.set(begun.deployment, all);
      all.set(begun.version, Math.max(begun.leftMs, all.get(begun.version) ?? 0));
      return labelProblems(pod);
    }
    const isFirst = before !== undefined && before.metadata.deletionTimestamp === undefined;
    if (!isLeaving || !isFirst || !this.hasToDrain.has(uid) || !isReadyPod(before)) return [];
    this.checks += 1;
    const set = this.replay.replicaSets.get(ownerOf(before) ?? '');
    const isLong = nowMs - (this.readySinceMs.get(uid) ?? nowMs) > this.lagMs;
    if (!set || !isLong || this.isOfUser(pod) || !this.isKept(set)) return [];
    return ['of an old version is deleted, and does not drain'];
  }

  /** Neither it nor its Deployment is on its way out. */
  private isKept(set: ReplicaSet): boolean {
    const deployment = this.replay.deployments.get(ownerOf(set) ?? '');
    return !!deployment && !deployment.metadata.deletionTimestamp && !set.metadata.deletionTimestamp;
  }

  private isOfUser({ metadata }: Pod): boolean {
    return this.knowledge.isOfUser?.(metadata.uid ?? '') ?? false;
  }

  private endpointProblems({ deleted, object, seenAtMs }: HistoryEvent): string[] {
    const slice = object as EndpointSlice;
    const { name } = slice.metadata;
    if (deleted) this.slices.delete(name);
    else this.slices.set(name, slice);
    if (deleted || this.draining.size === 0) return [];
    this.checks += 1;
    return (slice.endpoints ?? []).flatMap(({ targetRef }) => {
      const known = this.draining.get(targetRef?.uid ?? '');
      return known && seenAtMs - known.seenAtMs > this.lagMs
        ? [`pod ${targetRef?.name} drains, and is written into the endpoints`]
        : [];
    });
  }
}

/** A longer limit does not end within a run, milliseconds. */
const SHORT_MS = 600_000;

function labelProblems({ metadata }: Pod): string[] {
  const others = Object.keys(metadata.labels ?? {}).filter((label) => label !== LABEL);
  return others.length > 0 ? [`drains, and has the label ${others.join()}`] : [];
}

function drainingOf(pod: Pod, seenAtMs: number): Draining | undefined {
  const text = pod.metadata.annotations?.[NOTE];
  if (text === undefined || pod.metadata.labels?.[LABEL] === undefined) return undefined;
  const note = JSON.parse(text) as Record<'deployment' | 'rule' | 'since' | 'version', string>;
  const { most = '', versions } = LIMITS.exec(note.rule)?.groups ?? {};
  return {
    ...{ pod, deployment: note.deployment, version: note.version, seenAtMs, isLeaving: false },
    ...{ leftMs: Date.parse(note.since), mostMs: parseDuration(most) ?? 0, versions: Number(versions) },
  };
}
