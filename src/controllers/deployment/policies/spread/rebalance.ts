import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, isPodActive, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import {
  FIRST_TO_GO,
  firstToGo,
  isPodAvailable,
  isShortText,
  parseTimeMs,
  readJson,
  renderFirstToGo,
} from '../../../shared/index.js';
import { latestOf } from '../../kubernetes/new-replica-set.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import { activeOf, isObserved } from '../../kubernetes/replica-set-draft.js';
import type { SizeRequest } from '../../kubernetes/requested-size.js';
import { surgeProblem } from '../evictions/settings.js';
import { PREFIX } from '../common/names.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Pass, Policy, PolicyDecision } from '../common/pass.js';
import type { PolicySettings } from '../common/settings.js';
import {
  NODES_NOT_WATCHED,
  isRolledOut,
  normal,
  progressReason,
  tellEvent,
  type Problem,
} from '../common/tell.js';
import type { ZoneSurroundings } from '../zones/zones.js';
import { findUneven, newestFirst, ownConstraints, skewOf, type Uneven } from './uneven.js';

/** On a ReplicaSet: the pod that is moved, and since when; without a pod, when a move was given up. */
const REBALANCING = `${PREFIX}rebalancing`;

export interface RebalanceFields {
  /** Whether pods are moved, one at a time, until the constraints of the template hold. @default false */
  readonly rebalances: boolean;
}

export const REBALANCE_SETTINGS: PolicySettings<RebalanceFields> = {
  none: { rebalances: false },
  readers: {
    rebalance: (text, fields) => {
      if (text !== '1') return 'is not 1: one pod is moved at a time';
      fields.rebalances = true;
      return undefined;
    },
  },
  combine: ({ rebalances }, { problemOf, shape }) => {
    const why = rebalances ? surgeProblem(shape) : undefined;
    return why === undefined ? {} : { problems: [problemOf('rebalance', why)] };
  },
  ifWrong: { rebalance: { rebalances: false } },
  keeps: [REBALANCING],
};

type ReadablePod = DeepReadonly<Pod>;
type RebalancePass = Pass<RebalanceFields> & ZoneSurroundings;

/** After a rollout, pods are moved until the constraints hold again: a new pod first, and then the one that it replaces goes. */
export const REBALANCE: Policy<RebalancePass> = { decide: rebalance, trouble: rebalanceTrouble };

/** A new pod has this long to become available before a move is given up, milliseconds. */
const PATIENCE_MS = 120_000;
/** No move begins for this long after one that was of no use, milliseconds. */
const PAUSE_MS = 3_600_000;
/** Caches of pods and ReplicaSets agree soon, milliseconds. */
const DISAGREEMENT_MS = 1000;

function rebalanceTrouble({ nodes, policy: { rebalances } }: RebalancePass): Problem | undefined {
  if (!rebalances || nodes === undefined) return undefined;
  const reason = NODES_NOT_WATCHED;
  if (nodes === 'off') return { reason, message: 'nodes are not watched: start the controller with --zones' };
  if (nodes.availability !== 'refused') return undefined;
  return { reason, message: 'the controller may not list nodes' };
}

function rebalance(pass: RebalancePass): PolicyDecision | undefined {
  const { draft, policy } = pass;
  const latest = latestOf(draft, draft.living);
  if (!latest || !policy.rebalances || draft.spec.paused || draft.replicas === 0) return undefined;
  const move = readMove(latest);
  const isAlone = activeOf(draft.living).every((set) => set === latest);
  const isUnderWay = move?.pod !== undefined && isAlone && latest.replicas === draft.replicas + 1;
  const mayBegin = isAlone && latest.replicas === draft.replicas;
  if (isUnderWay) return { limits: { surge: 1 }, afterwards: () => finishMove(pass, latest, move) };
  if (!mayBegin) return undefined;
  return { limits: { surge: 1 }, afterwards: () => beginMove(pass, latest, move) };
}

function beginMove(
  pass: RebalancePass,
  latest: ReplicaSetDraft,
  before: Move | undefined,
): SizeRequest | undefined {
  const { draft, outcome } = pass;
  // A change of the size came in between, or a rollout began.
  if (before?.pod !== undefined) noteMove(pass, latest, undefined);
  if (latest.replicas !== draft.replicas || !isRolledOut(progressReason(draft))) return undefined;
  const uneven = unevenNow(pass, latest);
  if (!uneven) return undefined;
  const leftMs = before?.pod === undefined && before ? before.atMs + PAUSE_MS - draft.nowMs : 0;
  if (leftMs > 0) {
    lookAgainAfter(outcome, leftMs);
    return undefined;
  }
  if (!isSettled(pass, latest) || !isOld(pass, latest)) {
    lookAgainAfter(outcome, DISAGREEMENT_MS);
    return undefined;
  }
  const { constraint, pod, skew } = uneven;
  const { name } = pod.metadata;
  const message = `Moving ${name}: over ${constraint.topologyKey} the numbers of pods differ by ${skew}, and by ${constraint.maxSkew} they may`;
  tellEvent(draft, outcome, normal('Rebalancing', message));
  noteMove(pass, latest, { pod: name, at: draft.now });
  lookAgainAfter(outcome, PATIENCE_MS);
  return { replicaSet: latest, size: draft.replicas + 1 };
}

/** The pod goes if the new one makes it more even; otherwise the new one does. */
function finishMove(pass: RebalancePass, latest: ReplicaSetDraft, move: Move): SizeRequest | undefined {
  const { draft, outcome } = pass;
  if (latest.replicas !== draft.replicas + 1) return undefined;
  const pods = pass.podsOf(latest).filter(isPodActive);
  const moved = pods.find(({ metadata }) => metadata.name === move.pod);
  const leftMs = move.atMs + PATIENCE_MS - draft.nowMs;
  if (!isSettled(pass, latest) && leftMs > 0) {
    lookAgainAfter(outcome, Math.min(leftMs, DISAGREEMENT_MS));
    return undefined;
  }
  const [newest] = newestFirst(pods.filter((pod) => pod !== moved));
  if (moved && newest && leftMs > 0 && isBetterWithout(pass, pods, { moved, newest }))
    return letGo(pass, latest, { pod: moved, isUseful: true });
  return letGo(pass, latest, { pod: newest, isUseful: false });
}

function letGo(
  pass: RebalancePass,
  latest: ReplicaSetDraft,
  { isUseful, pod }: { readonly pod: ReadablePod | undefined; readonly isUseful: boolean },
): SizeRequest {
  const { draft, outcome } = pass;
  const name = pod?.metadata.name ?? 'a pod';
  const message = isUseful
    ? `${name} goes: another pod is available in a domain with fewer`
    : `${name} goes again: no pod became available in a domain with fewer; the next move is tried in an hour`;
  tellEvent(draft, outcome, normal(isUseful ? 'Rebalanced' : 'RebalanceGivenUp', message));
  noteMove(pass, latest, isUseful ? undefined : { at: draft.now });
  const first = renderFirstToGo(firstToGo(draft.replicas, pod ? [pod] : [], { beforeUnready: true }));
  return { replicaSet: latest, size: draft.replicas, annotations: { [FIRST_TO_GO]: first } };
}

function isBetterWithout(
  { draft, nodes }: RebalancePass,
  pods: readonly ReadablePod[],
  { moved, newest }: { readonly moved: ReadablePod; readonly newest: ReadablePod },
): boolean {
  if (nodes === undefined || nodes === 'off') return false;
  const skews = (gone: ReadablePod): readonly number[] =>
    ownConstraints(draft.spec.template).map((constraint) =>
      skewOf(
        constraint,
        pods.filter((pod) => pod !== gone),
        nodes,
      ),
    );
  const [after, before] = [skews(moved), skews(newest)];
  return (
    after.some((skew, index) => skew < (before[index] ?? 0)) &&
    after.every((skew, index) => skew <= (before[index] ?? 0))
  );
}

function unevenNow({ draft, nodes, podsOf }: RebalancePass, latest: ReplicaSetDraft): Uneven | undefined {
  if (nodes === undefined || nodes === 'off' || nodes.availability !== 'known') return undefined;
  return findUneven(ownConstraints(draft.spec.template), podsOf(latest).filter(isPodActive), nodes);
}

/** The ReplicaSet and its pods are as asked for, and all of them are available. */
function isSettled({ draft, podsOf }: RebalancePass, latest: ReplicaSetDraft): boolean {
  const active = podsOf(latest).filter(isPodActive);
  const available = active.filter((pod) => isPodAvailable(pod, latest.minReadySeconds, draft.nowMs));
  const { availableReplicas = 0, replicas = 0 } = latest.status;
  return (
    isObserved(latest) &&
    [replicas, availableReplicas, active.length, available.length].every((count) => count === latest.replicas)
  );
}

/** A pod that comes now is newer than all others: times of creation are whole seconds. */
function isOld({ draft, podsOf }: RebalancePass, latest: ReplicaSetDraft): boolean {
  const [newest] = newestFirst(podsOf(latest).filter(isPodActive));
  const createdMs = parseTimeMs(newest?.metadata.creationTimestamp) ?? 0;
  return draft.nowMs - createdMs >= 2 * DISAGREEMENT_MS;
}

interface Move {
  /** The name of the pod. @default none: a move was given up */
  readonly pod?: string;
  readonly atMs: number;
}

function readMove({ annotations }: ReplicaSetDraft): Move | undefined {
  const read = readJson(annotations[REBALANCING]);
  if (!isJsonObject(read)) return undefined;
  const { at, pod } = read;
  const atMs = isShortText(at) ? parseTimeMs(at) : undefined;
  if (atMs === undefined) return undefined;
  return { atMs, ...(isShortText(pod) && { pod }) };
}

function noteMove(
  { draft }: RebalancePass,
  latest: ReplicaSetDraft,
  move: { readonly pod?: string; readonly at: string } | undefined,
): void {
  const { [REBALANCING]: _before, ...others } = latest.annotations;
  draft.annotate(latest, move ? { ...others, [REBALANCING]: stringifyJson(move) } : others);
}
