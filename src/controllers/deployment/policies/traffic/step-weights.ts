import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { Pass } from '../common/pass.js';
import type { StepFields } from '../steps/settings.js';
import type { StepWeights } from '../steps/stages.js';
import { hashSelectedBy, type WatchedServices } from '../blue-green/selecting-services.js';
import { hashOfSet } from '../blue-green/blue-green-plan.js';
import type { Share } from '../common/share.js';
import { isShared } from '../common/share.js';
import { shareAt } from '../steps/step-shares.js';
import { isAt } from './managed-rules.js';
import { haveParts, partsOf, stickyCookie, type OwnParts } from './own-parts.js';
import type { WatchedRoutes } from './routes.js';
import type { TrafficFields } from './settings.js';
import { findSteering, type FoundSteering } from './traffic-trouble.js';

/** The pass of a Deployment whose requests may be steered. */
export interface SteeredPass extends Pass<TrafficFields & StepFields> {
  readonly draft: RolloutDraft;
  /** @default not known */
  readonly services?: WatchedServices;
  /** @default not known */
  readonly routes?: WatchedRoutes;
  readonly outcome: Pass['outcome'] & { askedShare?: Share };
}

/** The Services and rules of a Deployment; `undefined` where none is asked for, or where routes are not known at all. */
export function steeringOf({
  draft,
  policy,
  routes,
  services = 'off',
}: SteeredPass): FoundSteering | undefined {
  const { steps, traffic } = policy;
  if (!traffic || routes === undefined) return undefined;
  const shares = steps.map((_step, done) => shareAt(steps, done));
  return findSteering(draft, { ...traffic, shares }, { routes, services });
}

/** Whether the routes give the new version what its steps ask for; `undefined` if no route is steered. */
export function stepWeights(pass: SteeredPass, latest: ReplicaSetDraft | undefined): StepWeights | undefined {
  const found = steeringOf(pass);
  if (!found) return undefined;
  if (found.kind !== 'known') return { isServed: () => false };
  const { names, rules, services } = found.steering;
  const { namespace = '' } = pass.draft.observed.metadata;
  const canary = services.find(namespace, names.canary);
  const hash = canary && hashSelectedBy(canary);
  const isSelected = latest !== undefined && hash !== undefined && hash === hashOfSet(latest);
  return {
    isServed: (share) =>
      (isSelected || !isShared(share)) &&
      haveParts(rules, pass.draft.name, ownPartsOf(pass, share, latest)) &&
      rules.every((rule) => isAt(rule, share.percent) && rule.route.notServed === undefined),
  };
}

/** The parts of the routes that go with a share of a version. */
export function ownPartsOf(
  { draft, policy }: Pick<SteeredPass, 'draft' | 'policy'>,
  share: Share,
  version: ReplicaSetDraft | undefined,
): OwnParts {
  const { stickyMs } = policy.traffic ?? {};
  const hash = version && hashOfSet(version);
  const isSticky = stickyMs !== undefined && hash !== undefined;
  return partsOf(
    share,
    isSticky ? { cookie: stickyCookie(draft.name), hash, maxAgeMs: stickyMs } : undefined,
  );
}
