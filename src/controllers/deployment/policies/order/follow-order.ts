import { parseTimeMs } from '../../../shared/index.js';
import { rolloutSetsOf } from '../../kubernetes/new-replica-set.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { setStatus } from '../../kubernetes/status.js';
import { annotationOf } from '../common/names.js';
import { lookAgainAfter } from '../common/outcome.js';
import type { Pass, Policy } from '../common/pass.js';
import { hashOf } from '../common/revisions.js';
import { ORDER_IN_CIRCLE, WAITING_FOR_ORDER, observedProgress, type Problem } from '../common/tell.js';
import { tellWait } from '../common/tell-wait.js';
import type { VersionRule } from '../common/version-rule.js';
import { servedMeanwhile } from '../failure/go-back.js';
import type { FailureFields } from '../failure/settings.js';
import type { OrderSource, OrderSurroundings } from './order-source.js';
import { chainOf, circleOf, decideOrder, type FindRollout } from './order.js';
import { ORDER_SEEN, readOrderSeen, renderOrderSeen, type OrderFields } from './settings.js';

type OrderPass = Pass<OrderFields & Pick<FailureFields, 'release'>> & OrderSurroundings;

/** Rollouts that wait for each other are refused. */
export const ORDER: Policy<OrderPass> = {
  conclude: ({ draft, policy }) => {
    if (policy.after.length === 0) forget(draft);
  },
  trouble: (pass) => {
    const circle = pass.order && findCircle(pass, pass.order);
    return circle && circleProblem(circle);
  },
};

/** A version begins when those before it have ended well. */
export const FOLLOW_ORDER: VersionRule<OrderPass & Pass<FailureFields>> = {
  choose: (pass, rollout) => {
    const runs = servedMeanwhile(pass, rollout);
    const isFirst = !rollout.before && pass.draft.living.length === 0;
    const wait = runs || isFirst ? waitForOrder(pass) : undefined;
    if (!wait) return undefined;
    if (runs) return { runs, afterwards: () => tellOrder(pass, wait), isWithheld: true };
    // Nothing runs in its place, so nothing is played.
    const afterwards = (): void => {
      setStatus(pass.draft, rolloutSetsOf(pass.draft));
      tellOrder(pass, wait);
    };
    return { ends: true, afterwards, isWithheld: true };
  },
  withhold: ({ draft }) => forget(draft),
  conclude: ({ draft }) => forget(draft),
};

/** Why a version does not begin. */
interface WaitForOrder {
  readonly message: string;
  readonly unblockedBy: readonly string[];
  /** When time alone may end it, milliseconds from now. @default never */
  readonly lookAgainAfterMs?: number;
}

/** In one message; a condition is read by people. */
const MOST_NAMED = 3;

function waitForOrder(pass: OrderPass): WaitForOrder | undefined {
  const { draft, order, policy } = pass;
  if (policy.after.length === 0 || policy.unclear !== undefined || draft.replicas === 0) return undefined;
  if (!order) return observedWait(draft);
  const circle = findCircle(pass, order);
  if (circle) return { message: circleProblem(circle).message, unblockedBy: [REMOVE_AFTER] };
  const find = finder(draft, order);
  const template = hashOf(draft);
  const known = readOrderSeen(draft.annotations);
  // Users may write the annotation: a time that has yet to come would make the wait longer.
  const isKnown = known?.template === template && (parseTimeMs(known.asked) ?? 0) <= draft.nowMs;
  const seen = isKnown ? known : { template, asked: draft.now, with: [] };
  const { after, release } = policy;
  const decided = decideOrder({ after, release, seen }, find, draft.nowMs);
  remember(draft, renderOrderSeen(decided.seen));
  if (decided.unmet.length === 0) return undefined;
  const named = decided.unmet.slice(0, MOST_NAMED).map((each) => chainOf(each, find, draft.nowMs));
  const more = decided.unmet.length - named.length;
  const times = decided.unmet.flatMap(({ endsAtMs }) => endsAtMs ?? []);
  return {
    message: `The rollout waits for ${[...named, ...(more > 0 ? [`${more} more`] : [])].join('; and for ')}`,
    unblockedBy: [
      ...decided.unmet
        .slice(0, MOST_NAMED)
        .map(({ name }) => `a rollout of deployment/${name} that ends well`),
      REMOVE_AFTER,
    ],
    ...(times.length > 0 && { lookAgainAfterMs: Math.max(0, Math.min(...times) - draft.nowMs) }),
  };
}

const REMOVE_AFTER = `removing or changing ${annotationOf('after')}`;

/** If other Deployments are not known, the status counts. */
function observedWait(draft: RolloutDraft): WaitForOrder | undefined {
  const told = observedProgress(draft);
  if (told?.reason !== WAITING_FOR_ORDER) return undefined;
  return { message: told.message ?? '', unblockedBy: [REMOVE_AFTER] };
}

function findCircle({ draft, policy }: OrderPass, order: OrderSource): readonly string[] | undefined {
  return circleOf(draft.name, policy.after, finder(draft, order));
}

function finder({ observed }: RolloutDraft, order: OrderSource): FindRollout {
  const { namespace = '' } = observed.metadata;
  return (name) => order.find(namespace, name);
}

function circleProblem(circle: readonly string[]): Problem {
  const way = circle.map((name) => `deployment/${name}`).join(' after ');
  return { reason: ORDER_IN_CIRCLE, message: `The rollout is held, because its order is a circle: ${way}` };
}

function tellOrder(
  { draft, outcome }: OrderPass,
  { lookAgainAfterMs, message, unblockedBy }: WaitForOrder,
): void {
  tellWait(draft, outcome, { reason: WAITING_FOR_ORDER, message, unblockedBy, endsByItself: false });
  lookAgainAfter(outcome, lookAgainAfterMs);
}

function remember(draft: RolloutDraft, text: string): void {
  if (draft.annotations[ORDER_SEEN] !== text)
    draft.replaceMetadata({ ...draft.annotations, [ORDER_SEEN]: text });
}

function forget(draft: RolloutDraft): void {
  if (draft.annotations[ORDER_SEEN] === undefined) return;
  const { [ORDER_SEEN]: _seen, ...others } = draft.annotations;
  draft.replaceMetadata(others);
}
