import type { DeploymentCaches } from './admin-ports.js';
import type { ExplainSource } from './explain-source.js';
import { releaseOf } from '@rollkeeper/controllers/deployment';
import type { PodState } from '@rollkeeper/controllers/shared';
import { classifyPod } from '@rollkeeper/controllers/shared';
import type { Explanation } from '../../insight/explain/index.js';
import { controlledBy, ownedBy } from '@rollkeeper/client/informer';
import type { DeepReadonly, Deployment, Int64, Pod } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, keyOf } from '@rollkeeper/machinery/kubernetes';

/** One letter per pod state, so that ten thousand pods are ten thousand bytes. */
const POD_LETTERS: Readonly<Record<PodState, string>> = {
  available: 'a',
  ready: 'r',
  starting: 's',
  pending: 'p',
  unready: 'n',
  unschedulable: 'u',
  image: 'i',
  crash: 'c',
  config: 'g',
  rejected: 'j',
  terminating: 't',
  overdue: 'o',
  finished: 'f',
};

/** A Deployment in the console's list. */
export interface DeploymentSummary {
  /** `namespace/name`; with `?api=…` if another API may have the same name. */
  readonly key: string;
  /** The controller that reconciles it. */
  readonly controller: string;
  /** `name=value`. */
  readonly labels: readonly string[];
  /** `Kind/name`. Absent: no object owns it. */
  readonly owner?: string;
  /** The release that it changes with. @default none */
  readonly release?: string;
  /** The nodes of its pods. */
  readonly nodes: readonly string[];
  readonly state: Explanation['state'];
  readonly cause: Explanation['cause'];
  readonly sentence: string;
  readonly limits?: Explanation['limits'];
  readonly counts: Explanation['counts'];
  readonly deadline?: Explanation['deadline'];
  readonly sets: readonly {
    readonly name: string;
    readonly role: 'new' | 'old';
    readonly revision?: Int64;
    readonly images: readonly string[];
    readonly size: number;
    readonly available: number;
    /** One letter per pod, see {@link POD_LETTERS}. */
    readonly pods: string;
  }[];
}

/** See {@link DeploymentSummary.key}. */
export function summaryKey({ apiVersion }: DeploymentCaches, key: string): string {
  return apiVersion === 'apps/v1' ? key : `${key}?api=${apiVersion}`;
}

/** Old ReplicaSets kept at zero for a rollback are omitted. */
export function summarize(
  source: ExplainSource,
  caches: DeploymentCaches,
  deployment: DeepReadonly<Deployment>,
  nowMs: number,
): DeploymentSummary {
  const { cause, counts, deadline, limits, replicaSets, sentence, state } = source.glance(caches, deployment);
  const seconds = limits?.minReadySeconds ?? 0;
  const owned = new Map(
    controlledBy(caches.replicaSets.lister, deployment).map((replicaSet) => [
      replicaSet.metadata.name,
      ownedBy(caches.pods.lister, replicaSet),
    ]),
  );
  const sets = replicaSets
    .filter(({ pods, role, size }) => role === 'new' || size > 0 || pods > 0)
    .map(({ images, name, revision, role, size }) => {
      const pods = lettersOf(owned.get(name) ?? [], seconds, nowMs);
      // Counted from the pods, because a ReplicaSet's status lags a moment behind.
      const available = pods.split('').filter((letter) => letter === POD_LETTERS.available).length;
      return { name, role, revision, images, size, available, pods };
    });
  const nodes = nodesOf([...owned.values()].flat());
  const key = summaryKey(caches, keyOf(deployment.metadata));
  const { controller } = caches;
  const said = { state, cause, sentence, limits, counts, deadline, sets };
  return { key, controller, ...belongings(deployment), nodes, ...said };
}

function belongings({
  metadata,
}: DeepReadonly<Deployment>): Pick<DeploymentSummary, 'labels' | 'owner' | 'release'> {
  const release = releaseOf(metadata.annotations);
  const owner = controllerOf({ metadata }) ?? metadata.ownerReferences?.[0];
  return {
    labels: Object.entries(metadata.labels ?? {}).map(([name, value]) => `${name}=${value}`),
    ...(owner && { owner: `${owner.kind}/${owner.name}` }),
    ...(release !== undefined && { release }),
  };
}

function nodesOf(pods: readonly DeepReadonly<Pod>[]): readonly string[] {
  return [...new Set(pods.flatMap(({ spec }) => spec.nodeName ?? []))].toSorted();
}

function lettersOf(pods: readonly DeepReadonly<Pod>[], minReadySeconds: number, nowMs: number): string {
  const letters = pods.map((pod) => POD_LETTERS[classifyPod(pod, minReadySeconds, nowMs).state]);
  // Healthy ones first: dots that move are hard to follow.
  const order = Object.values(POD_LETTERS).join('');
  return letters.sort((a, b) => order.indexOf(a) - order.indexOf(b)).join('');
}
