import { lookAgainAfter } from '../common/outcome.js';
import type { Policy, PolicyDecision } from '../common/pass.js';
import { normal, tellEvent } from '../common/tell.js';
import { clearingOf, clearRoute, servicesToRead, type Clearing, type SteeredRoute } from './clearing.js';
import { titleOf } from './managed-rules.js';
import { noteFor } from './steered-note.js';
import { steeringOf } from './step-weights.js';
import type { TrafficPass } from './traffic.js';
import type { Steering } from './traffic-trouble.js';

/** The write brings it back; this covers a watch that misses it. */
const WRITE_LOOKS_AGAIN_MS = 1000;
/** Nothing reports when endpoints have come. */
const ENDPOINTS_LOOK_AGAIN_MS = 2000;

/**
 * Routes lose what a rollout has given them once the Deployment does not ask for it any more: first of all, and before its Services
 * select all pods again, since a copy would go to the pods that had the request.
 */
export const LEFT_PARTS: Policy<TrafficPass> = {
  concerns: (pass) => steeredRoutes(pass).length > 0,
  decide: clearRoutes,
};

function clearRoutes(pass: TrafficPass): PolicyDecision | undefined {
  const { draft, endpoints, outcome, writes } = pass;
  const left = leftParts(pass);
  const unread = servicesToRead(left).filter((name) => endpoints?.has(name) !== true);
  if (unread.length > 0) {
    outcome.readsEndpointsOf = servicesToRead(left);
    lookAgainAfter(outcome, ENDPOINTS_LOOK_AGAIN_MS);
    return { ends: true };
  }
  const cleared = left.map((clearing) => ({ clearing, ...clearRoute(clearing, endpoints ?? new Map()) }));
  for (const { clearing, writes: changes } of cleared) {
    if (changes.length === 0) continue;
    writes.routes.push(...changes);
    const message = `${titleOf(clearing.route)} leads no requests for a rollout any more: no policy asks for it`;
    tellEvent(draft, outcome, normal('TrafficWeight', message));
  }
  if (cleared.some(({ isWhole }) => !isWhole)) lookAgainAfter(outcome, ENDPOINTS_LOOK_AGAIN_MS);
  if (cleared.every(({ writes: changes }) => changes.length === 0)) return undefined;
  lookAgainAfter(outcome, WRITE_LOOKS_AGAIN_MS);
  return { ends: true };
}

/** None while it is unclear which routes are meant. */
function leftParts(pass: TrafficPass): readonly Clearing[] {
  const { draft, policy } = pass;
  const steered = policy.unclear === undefined ? steeredRoutes(pass) : [];
  if (steered.length === 0) return [];
  const found = steeringOf(pass);
  if (found && found.kind !== 'known') return [];
  const { names, rules = [] }: Partial<Steering> = found?.steering ?? {};
  return steered.flatMap((each) => {
    const own = rules.filter(({ route }) => route === each.route);
    const note = names && noteFor(own, draft.name, names);
    return clearingOf(each, { rules: own, note }) ?? [];
  });
}

function steeredRoutes({ draft, routes }: TrafficPass): readonly SteeredRoute[] {
  if (routes === undefined || routes === 'off') return [];
  return routes.steeredBy(draft.observed.metadata.namespace ?? '', draft.name);
}
