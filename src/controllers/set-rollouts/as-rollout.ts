import type { DeepReadonly, Deployment, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { DESIRED_REPLICAS, MAX_REPLICAS, POLICY_PREFIX, REVISION, SET_ROLLOUT } from '../deployment/index.js';
import { POD_TEMPLATE_HASH } from '../shared/index.js';
import { templateOf } from '../revisions/decide-revisions.js';
import { isFirstSeen, readKeptState } from './kept-state.js';
import type { ReadableRevision, SetPod, SetView } from './set-view.js';

/** The default of Deployments. */
const PROGRESS_DEADLINE_SECONDS = 600;
/** The set's own controller prunes its revisions. */
const KEEPS_ALL = 2 ** 31 - 1;

/** The prefixes of what is noted on revisions. */
const NOTES = [POLICY_PREFIX, 'deployment.kubernetes.io/'];

/** The rollout of a set in the form of a Deployment with its ReplicaSets, as the policies know one. */
export interface SetRollout {
  readonly deployment: DeepReadonly<Deployment>;
  /** One for each revision that has begun, under its name. */
  readonly replicaSets: readonly DeepReadonly<ReplicaSet>[];
  /** The pods, each controlled by the ReplicaSet of its revision. */
  readonly pods: readonly DeepReadonly<Pod>[];
}

/** A set as a rollout. Nothing of it is written under these kinds. */
export function asRollout(view: SetView): SetRollout {
  const replicaSets = view.revisions.flatMap((revision) => replicaSetOf(view, revision) ?? []);
  const uids = new Map(replicaSets.map(({ metadata }) => [metadata.name, metadata.uid ?? '']));
  return {
    deployment: deploymentOf(view),
    replicaSets,
    pods: view.pods.map(({ pod, revision }) => ofRevision(pod, revision, uids.get(revision))),
  };
}

function deploymentOf({ kind, replicas, set }: SetView): DeepReadonly<Deployment> {
  const { metadata, spec } = set;
  const { [SET_ROLLOUT]: _state, ...annotations } = metadata.annotations ?? {};
  const { revision, status } = readKeptState(metadata);
  const { minReadySeconds, selector, template } = spec;
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: {
      ...metadata,
      annotations: { ...annotations, ...(revision !== undefined && { [REVISION]: revision }) },
    },
    spec: {
      ...{ replicas, selector, template },
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      revisionHistoryLimit: KEEPS_ALL,
      progressDeadlineSeconds: PROGRESS_DEADLINE_SECONDS,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    },
    status,
  };
}

/**
 * Undefined for a revision that has not begun. The one that the set started with has, and so have those that have pods: without them, the
 * next version would seem to replace nothing, and take no steps. The update alone begins with its first step, because the set's own
 * controller may have given it pods in the middle of a rollout; if it has pods when the set is first seen, it has begun as well.
 */
function replicaSetOf(view: SetView, revision: ReadableRevision): DeepReadonly<ReplicaSet> | undefined {
  const { name, namespace, uid, resourceVersion, creationTimestamp, ownerReferences, labels } =
    revision.metadata;
  const own = view.pods.filter((pod) => pod.revision === name && !pod.isTerminating);
  const annotations = annotationsOf(view, revision, own.length > 0);
  if (!annotations) return undefined;
  const size = sizeOf(view, name, own);
  const { selector } = view.set.spec;
  const template = name === view.update ? view.set.spec.template : (templateOf(revision) ?? {});
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      ...{ name, namespace, uid, resourceVersion, creationTimestamp, ownerReferences, annotations },
      generation: 1,
      labels: { ...labels, [POD_TEMPLATE_HASH]: name },
    },
    spec: { replicas: size, selector, template, minReadySeconds: view.set.spec.minReadySeconds ?? 0 },
    status: {
      observedGeneration: 1,
      replicas: own.length,
      readyReplicas: own.filter(({ isReady }) => isReady).length,
      availableReplicas: own.filter(({ isAvailable }) => isAvailable).length,
    },
  };
}

/** The pods that it has been given: those of the others are the ones that there are. */
function sizeOf(view: SetView, name: string, own: readonly SetPod[]): number {
  if (name !== view.update) return own.length;
  if (view.update !== view.current) return Math.max(view.given, own.length);
  const others = view.pods.filter(({ isTerminating, revision }) => revision !== name && !isTerminating);
  return Math.max(0, view.replicas - others.length);
}

function annotationsOf(
  { current, replicas, set, update }: SetView,
  { metadata, revision }: ReadableRevision,
  hasPods: boolean,
): Record<string, string> | undefined {
  const others = notedOn(metadata.annotations ?? {});
  const begun = others[REVISION];
  const hasBegun =
    metadata.name === current || (hasPods && (isFirstSeen(set.metadata) || metadata.name !== update));
  const number = begun ?? (hasBegun ? String(revision) : undefined);
  if (number === undefined) return undefined;
  return {
    ...others,
    [REVISION]: number,
    // With these two no size is ever mistaken for a change of `replicas`.
    [DESIRED_REPLICAS]: String(replicas),
    [MAX_REPLICAS]: String(replicas + 1),
  };
}

/**
 * The annotations without those that are no notes of its rollout: the set's own controller gives a new revision all annotations of the
 * set, and the state of the set among them shows that nothing has been noted since.
 */
function notedOn(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { [SET_ROLLOUT]: copied, ...others } = annotations;
  if (copied === undefined) return others;
  return Object.fromEntries(
    Object.entries(others).filter(([name]) => !NOTES.some((each) => name.startsWith(each))),
  );
}

/**
 * The annotations of a revision's ReplicaSet, as its ControllerRevision keeps them: the number under which its rollout began is
 * the one that Kubernetes has for ReplicaSets. Without it, it has not begun.
 */
export function annotationsToKeep(annotations: Readonly<Record<string, string>>): Record<string, string> {
  const { [DESIRED_REPLICAS]: _desired, [MAX_REPLICAS]: _max, ...others } = annotations;
  return others;
}

function ofRevision(pod: DeepReadonly<Pod>, name: string, uid = ''): DeepReadonly<Pod> {
  const reference = { apiVersion: 'apps/v1', kind: 'ControllerRevision', name, uid, controller: true };
  return { ...pod, metadata: { ...pod.metadata, ownerReferences: [reference] } };
}
