import type { RolloutDraft } from '../../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../../kubernetes/replica-set-draft.js';
import type { Pass } from '../common/pass.js';
import type { StepFields } from '../steps/settings.js';
import type { StepWeights } from '../steps/stages.js';
import { hashSelectedBy, type WatchedServices } from '../blue-green/selecting-services.js';
import { hashOfSet } from '../blue-green/blue-green-plan.js';
import { isAt } from './managed-rules.js';
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
  readonly outcome: Pass['outcome'] & { askedWeight?: number };
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
  const percents = steps.flatMap((step) => (step.kind === 'weight' ? [step.percent] : []));
  return findSteering(draft, { ...traffic, percents }, { routes, services });
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
    isServed: (percent) =>
      isSelected && rules.every((rule) => isAt(rule, percent) && rule.route.notServed === undefined),
  };
}
