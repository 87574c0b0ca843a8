import type { Deployment, Pod } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import type { Mesh } from '../mesh.js';
import { isMeshed, isStale } from '../mesh.js';
import type { StoreReplay } from './store-replay.js';
import { isLiving } from './store-replay.js';
import type { Violation } from './violation.js';

const P = 'rollkeeper.dev/';
const [DIGEST, DRIFT, RESTARTED] = [`${P}admission-digest`, `${P}admission-drift`, `${P}admission-restarted`];
/** In a day, in which each run ends. */
const MOST_RESTARTS = 3;

/** The sidecars that admission gives from a time on, milliseconds. */
export interface KnownMesh {
  readonly mesh: Mesh;
  readonly sinceMs: number;
}

interface Restarts {
  /** The parts of each, as JSON. */
  readonly parts: string[];
  /** All digests that its template has had. */
  readonly digests: Set<string>;
}

/**
 * (k) A Deployment whose pods get sidecars from a webhook is restarted for them only if it asks for that (`restart-on: admission`) and one of
 * its pods has lately differed from the pods that admission makes. It is restarted three times a day at most, and once for the same parts.
 * `unrest` finds pods that differ at the end, with no restart for them or no report of them. Call before the change is applied to the replay.
 */
export class AdmissionChecker {
  checks = 0;
  private readonly restarts = new Map<string, Restarts>();
  /** The sidecars that admission gave, oldest first. */
  private readonly meshes: KnownMesh[] = [];
  /** By Deployment, when a pod of it differed last. */
  private readonly staleAtMs = new Map<string, number>();

  /** @param lagMs the longest time from a difference until the restart for it, milliseconds */
  constructor(
    private readonly replay: StoreReplay,
    private readonly lagMs = 60_000,
  ) {}

  /** From now on new pods get these sidecars. */
  know(mesh: Mesh, nowMs: number): void {
    // Until now, those that have to change were as they are.
    for (const deployment of this.replay.deployments.values()) this.noteStale(deployment, nowMs);
    this.meshes.push({ mesh, sinceMs: nowMs });
    for (const deployment of this.replay.deployments.values()) this.noteStale(deployment, nowMs);
  }

  check(event: HistoryEvent): Violation[] {
    if (this.meshes.length === 0) return [];
    const { deleted, kind, object, resourceVersion, seenAtMs } = event;
    const concerned = this.replay.deploymentOf(event);
    if (concerned) this.noteStale(concerned, seenAtMs);
    if (kind !== 'Deployment' || deleted || !isMeshed(object as Deployment)) return [];
    const problems = this.restartProblems(object as Deployment, seenAtMs);
    return problems.map((problem) => ({
      ...{ check: 'admission', subject: object.metadata.name },
      problem: `${problem} (revision ${resourceVersion})`,
    }));
  }

  /** The Deployments whose pods differ without a reason, or without being told. */
  unrest(): string[] {
    const mesh = this.meshes.at(-1)?.mesh;
    if (!mesh) return [];
    return [...this.replay.deployments.values()]
      .filter(isMeshed)
      .flatMap((deployment) =>
        this.unrestOf(deployment, mesh).map((problem) => `Deployment ${deployment.metadata.name} ${problem}`),
      );
  }

  private unrestOf(deployment: Deployment, mesh: Mesh): string[] {
    const { uid = '' } = deployment.metadata;
    const stale = this.podsOf(deployment).filter((pod) => isStale(pod, mesh)).length;
    const record = recordOf(deployment);
    if (stale === 0) return record ? ['has no pod that differs, and is said to have some'] : [];
    if (!record) return [`has ${stale} pods that differ from what admission gives, which is not shown`];
    if (record.stale < stale) return [`has ${stale} pods that differ, and is said to have ${record.stale}`];
    if (!asks(deployment) || this.bars(uid, record)) return [];
    return [`has ${stale} pods that differ, and is not restarted`];
  }

  /** Whether a Deployment differs and has been restarted too often for that. @param key `namespace/name` */
  isBarred(key: string): boolean {
    return [...this.replay.deployments.values()].some((deployment) => {
      const { name, namespace, uid = '' } = deployment.metadata;
      const record = recordOf(deployment);
      return `${namespace}/${name}` === key && record !== null && this.bars(uid, record);
    });
  }

  private bars(uid: string, record: DriftRecord): boolean {
    const parts = this.restarts.get(uid)?.parts ?? [];
    return parts.length >= MOST_RESTARTS || parts.includes(JSON.stringify(record.parts));
  }

  private restartProblems(deployment: Deployment, nowMs: number): string[] {
    const { annotations, uid = '' } = deployment.metadata;
    const digest = deployment.spec.template.metadata?.annotations?.[DIGEST];
    const known = this.restarts.get(uid) ?? { parts: [], digests: new Set() };
    this.restarts.set(uid, known);
    // A user may bring a template back that was restarted.
    if (digest === undefined || known.digests.has(digest)) return [];
    this.checks += 1;
    known.digests.add(digest);
    const all = JSON.parse(annotations?.[RESTARTED] ?? '[]') as readonly { readonly parts: unknown }[];
    const parts = JSON.stringify(all.at(-1)?.parts);
    const isAgain = known.parts.includes(parts);
    known.parts.push(parts);
    const sinceMs = nowMs - (this.staleAtMs.get(uid) ?? -Infinity);
    return [
      ...(asks(deployment) ? [] : ['is restarted, and does not ask for it']),
      ...(isAgain ? [`is restarted again for ${parts}`] : []),
      ...(known.parts.length > MOST_RESTARTS ? [`is restarted for the ${known.parts.length}th time`] : []),
      ...(sinceMs > this.lagMs ? ['is restarted, and no pod of it differs'] : []),
    ];
  }

  private noteStale(deployment: Deployment, nowMs: number): void {
    if (!isMeshed(deployment)) return;
    // An API server may have asked by a configuration that has just changed.
    const current = this.meshes.filter(
      (_, index) => (this.meshes[index + 1]?.sinceMs ?? nowMs) >= nowMs - API_LAG_MS,
    );
    const isSo = this.podsOf(deployment).some((pod) => current.some(({ mesh }) => isStale(pod, mesh)));
    if (isSo) this.staleAtMs.set(deployment.metadata.uid ?? '', nowMs);
  }

  private podsOf({ metadata }: Deployment): readonly Pod[] {
    const sets = this.replay.replicaSetsOf(metadata.uid ?? '');
    const pods = sets.flatMap(({ metadata: { uid = '' } }) => this.replay.podsOf(uid));
    return pods.filter((pod) => isLiving(pod) && pod.status?.phase === 'Running');
  }
}

interface DriftRecord {
  readonly stale: number;
  readonly parts: readonly string[];
}

function recordOf({ metadata }: Deployment): DriftRecord | null {
  return JSON.parse(metadata.annotations?.[DRIFT] ?? 'null') as DriftRecord | null;
}

/** The API server knows a new configuration within this time, milliseconds. */
const API_LAG_MS = 2000;

/** The same as {@link AdmissionChecker.unrest}, of what the API shows now and of what Deployments say of their own restarts. */
export function unrestOfAdmission(
  deployments: readonly Deployment[],
  pods: readonly Pod[],
  mesh: Mesh,
): string[] {
  return deployments.filter(isMeshed).flatMap((deployment) => {
    const { annotations, name } = deployment.metadata;
    const labels = deployment.spec.selector.matchLabels ?? {};
    const own = pods.filter(
      (pod) =>
        isLiving(pod) &&
        pod.status?.phase === 'Running' &&
        Object.entries(labels).every(([label, value]) => pod.metadata.labels?.[label] === value),
    );
    const stale = own.filter((pod) => isStale(pod, mesh)).length;
    if (stale === 0) return [];
    const record = recordOf(deployment);
    if (!record) return [`Deployment ${name} has ${stale} pods that differ, which is not shown`];
    const restarts = JSON.parse(annotations?.[RESTARTED] ?? '[]') as readonly { readonly parts: unknown }[];
    const isBarred =
      restarts.length >= MOST_RESTARTS ||
      restarts.some(({ parts }) => JSON.stringify(parts) === JSON.stringify(record.parts));
    return asks(deployment) && !isBarred ? [`Deployment ${name} has ${stale} pods that differ`] : [];
  });
}

function asks({ metadata }: Deployment): boolean {
  return (metadata.annotations?.[`${P}restart-on`] ?? '').includes('admission');
}
