import { releaseOf } from '@rollkeeper/controllers/deployment';
import type { PodState } from '@rollkeeper/controllers/shared';
import { classifyPod } from '@rollkeeper/controllers/shared';
import type { Explanation } from '../../insight/explain/index.js';
import type { DeepReadonly, Deployment, Int64, Pod } from '@rollkeeper/machinery/kubernetes';
import { controllerOf } from '@rollkeeper/machinery/kubernetes';

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

/** A Deployment, or a set whose rollouts are under policies, in the console's list. */
export interface DeploymentSummary {
  /** `namespace/name`; with `?api=…` if another API may have the same name, and with `?kind=…` for a set. */
  readonly key: string;
  /** @default it is a Deployment */
  readonly kind?: 'StatefulSet' | 'DaemonSet';
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

/** The rollout of which a summary is made. */
interface SummarizedRollout {
  readonly key: string;
  readonly controller: string;
  /** @default it is a Deployment */
  readonly kind?: DeploymentSummary['kind'];
  readonly metadata: DeepReadonly<Deployment>['metadata'];
  readonly explanation: Explanation;
  /** By the names of its ReplicaSets, or revisions. */
  readonly pods: ReadonlyMap<string, readonly DeepReadonly<Pod>[]>;
}

/** Old ReplicaSets kept at zero for a rollback are omitted. */
export function summarize(
  { controller, explanation, key, kind, metadata, pods: owned }: SummarizedRollout,
  nowMs: number,
): DeploymentSummary {
  const { cause, counts, deadline, limits, replicaSets, sentence, state } = explanation;
  const seconds = limits?.minReadySeconds ?? 0;
  const sets = replicaSets
    .filter(({ pods, role, size }) => role === 'new' || size > 0 || pods > 0)
    .map(({ images, name, revision, role, size }) => {
      const pods = lettersOf(owned.get(name) ?? [], seconds, nowMs);
      // Counted from the pods, because a ReplicaSet's status lags a moment behind.
      const available = pods.split('').filter((letter) => letter === POD_LETTERS.available).length;
      return { name, role, revision, images, size, available, pods };
    });
  const nodes = nodesOf([...owned.values()].flat());
  const said = { state, cause, sentence, limits, counts, deadline, sets };
  return { key, controller, ...(kind && { kind }), ...belongings({ metadata }), nodes, ...said };
}

function belongings({
  metadata,
}: Pick<DeepReadonly<Deployment>, 'metadata'>): Pick<DeploymentSummary, 'labels' | 'owner' | 'release'> {
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
