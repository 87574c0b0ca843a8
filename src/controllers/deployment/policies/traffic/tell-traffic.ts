import { renderDuration, toRfc3339 } from '@rollkeeper/machinery/clock';
import { lookAgainAfter } from '../common/outcome.js';
import {
  ROLLOUT_HELD,
  WAITING_FOR_APPROVAL,
  WAITING_FOR_TRAFFIC,
  normal,
  observedProgress,
  tellEvent,
  tellProgress,
} from '../common/tell.js';
import type { SteeredPass } from './step-weights.js';
import type { TrafficStep, Waiting } from './traffic-plan.js';
import type { FoundSteering, Steering } from './traffic-trouble.js';

/** Nothing reports when endpoints come, nor that a route could be written again. */
const WAIT_LOOKS_AGAIN_MS = 2000;
/** The reason that a route cannot be steered may end by itself. */
const TROUBLE_LOOKS_AGAIN_MS = 30_000;

/** Reports what a rollout by weights waits for. */
export function tellTrafficWait(
  pass: SteeredPass,
  { untilMs, why }: Extract<TrafficStep, { kind: 'wait' }>,
  { names }: Steering,
): void {
  const { draft, outcome } = pass;
  const leftMs = untilMs === undefined ? undefined : untilMs - draft.nowMs;
  lookAgainAfter(outcome, leftMs ?? WAIT_LOOKS_AGAIN_MS);
  const until = untilMs === undefined ? '' : `, until ${toRfc3339(untilMs)}`;
  const message = `${sentenceOf(why, names)}${until}`;
  // A person decides whether the weights of the other hand stay.
  const isEdited = why.for === 'edit';
  const reason = isEdited ? WAITING_FOR_APPROVAL : WAITING_FOR_TRAFFIC;
  const isHeld = isEdited || why.for === 'stable-pods';
  if (isHeld && observedProgress(draft)?.message !== message)
    tellEvent(draft, outcome, normal(reason, message));
  tellProgress(draft, { status: 'Unknown', reason, message });
  outcome.isWaiting = true;
  outcome.standing = {
    code: isEdited ? 'waits-for-approval' : 'waits-for-traffic',
    sentence: message,
    unblockedBy: leftMs === undefined ? remediesOf(pass, why) : [renderDuration(leftMs)],
    endsByItself: why.for === 'drain' || why.for === 'endpoints' || why.for === 'stable-grows',
  };
}

function sentenceOf(why: Waiting, { canary, stable }: Steering['names']): string {
  switch (why.for) {
    case 'route':
      return why.why;
    case 'endpoints': {
      const name = why.which === 'stable' ? stable : canary;
      return `Service "${name}" has no ready endpoint of its version yet, or still one of another`;
    }
    case 'drain':
      return `The version behind Service "${why.leaves === 'stable' ? stable : canary}" has no share of the requests any more, and ends those that it has`;
    case 'edit':
      return `Another hand has changed the weights of Services "${stable}" and "${canary}" in a route`;
    case 'stable-grows':
      return `The version behind Service "${stable}" gets pods for the requests that come back to it`;
    case 'stable-pods':
      return `No pod behind Service "${stable}" is ready, so the requests stay where they are`;
  }
}

function remediesOf({ draft }: SteeredPass, why: Waiting): readonly string[] {
  const { name, namespace = 'default' } = draft.observed.metadata;
  const key = `${namespace}/${name}`;
  if (why.for === 'edit')
    return [
      `rollkeeper promote ${key} writes the weights of its step again`,
      `or roll back with rollkeeper abort ${key}`,
    ];
  const remedy = why.for === 'route' ? 'a gateway that serves the route' : 'a pod that is ready';
  return [remedy, `or roll back with rollkeeper abort ${key}`];
}

/** Reports that requests cannot be steered. */
export function tellUnsteered(
  { draft, outcome }: SteeredPass,
  found: Exclude<FoundSteering, { kind: 'known' }>,
): void {
  const observed = observedProgress(draft);
  if (found.kind === 'unknown') {
    // Until they are known, what the controller said last still holds.
    const { message = '', reason } = observed ?? {};
    if (reason !== WAITING_FOR_TRAFFIC && reason !== ROLLOUT_HELD) return;
    tellProgress(draft, { status: 'Unknown', reason, message });
    outcome.isWaiting = true;
    return;
  }
  lookAgainAfter(outcome, TROUBLE_LOOKS_AGAIN_MS);
  const message = `The rollout is held: ${found.problem.message}`;
  if (observed?.message !== message) tellEvent(draft, outcome, normal(ROLLOUT_HELD, message));
  tellProgress(draft, { status: 'Unknown', reason: ROLLOUT_HELD, message });
  outcome.isWaiting = true;
  outcome.standing = {
    code: 'rollout-held',
    sentence: `it is held: ${found.problem.message}`,
    unblockedBy: ['a route and Services that can be steered (docs/ROLLOUTS.md)'],
    endsByItself: false,
  };
}
