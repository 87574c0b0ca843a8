import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isPodActive, isPodReady } from '@rollkeeper/machinery/kubernetes';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { isObserved } from '../../kubernetes/replica-set-draft.js';
import { isRollingUpdate, minAvailable } from '../../kubernetes/limits.js';
import { giveAskedTemplate, keepRevision, servedInPlace } from '../in-place/in-place.js';
import { RESIZING } from '../common/names.js';
import { RESIZE_REFUSED } from './settings.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { ResizeFields } from './settings.js';
import type { LivePods } from './live-pods.js';
import type { Pass, PolicyDecision } from '../common/pass.js';
import type { VersionRule } from '../common/version-rule.js';
import { hashOf } from '../common/revisions.js';
import {
  RESIZING_PODS,
  asClause,
  normal,
  observedProgress,
  tellEvent,
  tellProgress,
  warning,
} from '../common/tell.js';
import type { ResizeState } from './resized-pods.js';
import { resizeStateOf, withResources } from './resized-pods.js';
import type { ResourceChange } from './resource-changes.js';
import { amountsOfTemplate, resourceChanges } from './resource-changes.js';

type ReadablePod = DeepReadonly<Pod>;

/** The effect of resizing on a pass. */
export interface ResizeOutcome {
  /** The ReplicaSet whose pods have to be read from the API, because caches do not have their resources. */
  readsPodsOf?: string;
}
export type ResizePass = Pass<ResizeFields> & {
  /** @default to be read, where they are needed */
  readonly livePods?: LivePods;
  readonly outcome: ResizeOutcome;
};

/** Pods get another cpu and memory in place where nothing else has changed. */
export const RESIZE_IN_PLACE: VersionRule<ResizePass> = {
  choose: (pass, { before }) => resizeInPlace(pass, before),
  conclude: finishResize,
};

/** Nodes take some seconds, and pods are not watched for it. */
const LOOK_AGAIN_MS = 1000;
/** The number of pods that one pass resizes. */
const MOST_AT_ONCE = 100;
/** The pods of a ReplicaSet whose template differs from what is asked for in cpu and memory alone. */
interface Resize {
  readonly served: ReplicaSetDraft;
  readonly changes: readonly ResourceChange[];
  readonly pods: readonly (readonly [ReadablePod, ResizeState])[];
}

/**
 * If only cpu and memory of containers have changed, gives them to the pods that run, and then the new template to
 * their ReplicaSet: no pod is replaced. What a node refuses rolls as usual, and so does what the API does not let a pod
 * have.
 * @param before the ReplicaSet of what is asked for, if there is one
 * @returns undefined where the version rolls out as usual
 */
function resizeInPlace(pass: ResizePass, before: ReplicaSetDraft | undefined): PolicyDecision | undefined {
  const resize = pass.policy.resizesInPlace ? resizeOf(pass, before) : undefined;
  if (!resize) return undefined;
  const { draft } = pass;
  const refusal = refusalOf(draft);
  if (refusal !== undefined) {
    if (!before) tellRefusal(pass, resize.served, refusal);
    return undefined;
  }
  if (!resize.pods) {
    pass.outcome.readsPodsOf = resize.served.name;
    lookAgainAfter(pass.outcome, LOOK_AGAIN_MS);
    return { runs: resize.served };
  }
  return resizeKnown(pass, { ...resize, pods: resize.pods }, before);
}

function resizeKnown(
  pass: ResizePass,
  resize: Resize,
  before: ReplicaSetDraft | undefined,
): PolicyDecision | undefined {
  const { draft } = pass;
  const obstacle = obstacleOf(draft, resize);
  if (obstacle !== undefined) {
    if (!before) tellRefusal(pass, resize.served, obstacle);
    return undefined;
  }
  const { served } = resize;
  const isKept = isDone(resize) && keepRevision(draft, served);
  if (isKept) {
    moveAlong(pass, resize);
    return {};
  }
  const afterwards = (): void => {
    ask(pass, resize);
    tellResizing(pass, resize);
  };
  return { runs: served, afterwards };
}

/**
 * Once the ReplicaSet has the template that its pods were given, or has it again: a pod that its controller started in between, or that was resized
 * for a template which was taken back, is resized as well. The mark goes when none is left.
 */
function finishResize(pass: ResizePass, latest: ReplicaSetDraft | undefined): void {
  const { draft, livePods, outcome, policy } = pass;
  if (!policy.resizesInPlace || latest?.annotations[RESIZING] === undefined) return;
  // Its controller keeps starting pods from the template before until it has seen this one.
  const isSeen = isObserved(latest) && latest.template === latest.observed?.spec.template;
  if (!isSeen || livePods?.of !== latest.name) {
    if (isSeen) outcome.readsPodsOf = latest.name;
    return lookAgainAfter(outcome, LOOK_AGAIN_MS);
  }
  const changes = amountsOfTemplate(latest.template);
  const pods = livePods.pods
    .filter(isPodActive)
    .map((pod) => [pod, resizeStateOf(pod, changes)] as const)
    // Its node has said that it never will; it is replaced with its ReplicaSet.
    .filter(([, { kind }]) => kind !== 'refused');
  if (pods.every(([, { kind }]) => kind === 'done')) {
    const { [RESIZING]: _since, ...others } = latest.annotations;
    return draft.annotate(latest, others);
  }
  ask(pass, { served: latest, changes, pods });
  lookAgainAfter(outcome, LOOK_AGAIN_MS);
}

/** Without pods until they have been read. */
type Sought = Omit<Resize, 'pods'> & Partial<Pick<Resize, 'pods'>>;

function resizeOf({ draft, livePods }: ResizePass, before: ReplicaSetDraft | undefined): Sought | undefined {
  const served = servedInPlace(draft, before);
  const changes = served && resourceChanges(served.template, draft.spec.template);
  if (!served || !changes) return undefined;
  if (livePods?.of !== served.name) return { served, changes };
  const pods = livePods.pods.filter(isPodActive);
  return { served, changes, pods: pods.map((pod) => [pod, resizeStateOf(pod, changes)] as const) };
}

/** Why the API has refused this template; kept on the Deployment, so that every replica knows. */
function refusalOf(draft: RolloutDraft): string | undefined {
  const [hash, ...why] = draft.annotations[RESIZE_REFUSED]?.split(': ') ?? [];
  return hash === hashOf(draft) ? why.join(': ') : undefined;
}

function tellRefusal({ draft, outcome }: ResizePass, { name }: ReplicaSetDraft, why: string): void {
  const message = `Pods of ${name} are replaced, because they cannot be resized in place: ${why}`;
  tellEvent(draft, outcome, warning('ResizeRefused', message));
}

function obstacleOf(draft: RolloutDraft, { changes, pods }: Resize): string | undefined {
  const patienceMs = (draft.spec.progressDeadlineSeconds ?? 600) * 1000;
  for (const [{ metadata }, state] of pods) {
    const isOver =
      state.kind === 'refused' || (state.kind === 'deferred' && state.sinceMs + patienceMs <= draft.nowMs);
    if (isOver) return `${metadata.name}: ${state.why}`;
  }
  const restarts = changes.some((change) => change.restarts);
  if (restarts && isRollingUpdate(draft.spec) && minAvailable(draft.spec) >= draft.replicas)
    return 'containers would restart, and maxUnavailable is 0';
  return undefined;
}

function isDone({ pods, served }: Resize): boolean {
  return pods.length >= served.replicas && pods.every(([, { kind }]) => kind === 'done');
}

function tellResizing({ draft, outcome }: ResizePass, { pods, served }: Resize): void {
  const done = pods.filter(([, { kind }]) => kind === 'done').length;
  const deferred = pods.find(([, { kind }]) => kind === 'deferred');
  const waits = deferred ? `; ${deferred[0].metadata.name} waits for room on its node` : '';
  const message = `Pods of ${served.name} are resized in place: ${done} of ${served.replicas} done${waits}`;
  if (observedProgress(draft)?.reason !== RESIZING_PODS)
    tellEvent(draft, outcome, normal(RESIZING_PODS, `Resizing the pods of ${served.name} in place`));
  tellProgress(draft, { status: 'Unknown', reason: RESIZING_PODS, message });
  outcome.isWaiting = true;
  outcome.standing = {
    code: 'resizes-pods',
    sentence: asClause(message),
    unblockedBy: [
      'the nodes, which give the pods what they ask for; what they refuse is rolled out as usual',
    ],
    endsByItself: true,
  };
  lookAgainAfter(outcome, LOOK_AGAIN_MS);
}

/** The mark is written before the first pod is resized. */
function ask({ draft, writes }: ResizePass, resize: Resize): void {
  const { changes, pods, served } = resize;
  const due = pods.filter(([, { kind }]) => kind === 'to-do').map(([pod]) => pod);
  writes.pods.push(...due.slice(0, roomFor(draft, resize)).map((pod) => withResources(pod, changes)));
  if (due.length > 0 && served.annotations[RESIZING] === undefined)
    draft.annotate(served, { ...served.annotations, [RESIZING]: draft.now });
}

/** Containers that restart are missing for a moment. So the number of pods at once is limited as in a rolling update. */
function roomFor(draft: RolloutDraft, { changes, pods }: Resize): number {
  if (!changes.some(({ restarts }) => restarts) || !isRollingUpdate(draft.spec)) return MOST_AT_ONCE;
  const settled = pods.filter(([pod, { kind }]) => isPodReady(pod) && kind !== 'under-way');
  return Math.max(0, settled.length - minAvailable(draft.spec));
}

function moveAlong({ draft, outcome }: ResizePass, { pods, served }: Resize): void {
  giveAskedTemplate(draft, served);
  const message = `Resized ${pods.length} pods of ${served.name} in place`;
  tellEvent(draft, outcome, normal('ResizedInPlace', message));
}
