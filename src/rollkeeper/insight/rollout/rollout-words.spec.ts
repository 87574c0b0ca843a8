import { expect, it } from 'vitest';
import type { RolloutView } from '../../../controllers/deployment/index.js';
import {
  policyReasonOf,
  rolloutHealth,
  rolloutState,
  stateOfStatus,
} from '../../../controllers/deployment/index.js';
import { aView } from '../../../controllers/deployment/state/rollout-view.fixture.js';
import { ROLLOUTS } from '../../../controllers/deployment/state/rollouts.fixture.js';
import { explainDeployment } from '../explain/index.js';
import { decideRolloutEvent } from '../events/decide-rollout-event.js';
import { rolloutOfObject } from '../../cli/top/read-top.js';
import { describeRollout } from './describe-rollout.js';
import { ROLLOUT_EXIT_CODES } from '../../terminal/exit-codes.js';
import { OUTCOME_OF_PHASE } from './rollout-outcome.js';

/** The words of every command, page, metric and event for one rollout. */
function wordsFor(name: string, view: RolloutView): string {
  const rollout = rolloutState(view);
  const outcome = OUTCOME_OF_PHASE[rollout.phase];
  const report = describeRollout({ view, state: rollout, isWhole: true, isLast: true });
  const { cause, sentence, state, waitsFor } = explainDeployment(view);
  const [shownByTop] = rolloutOfObject(view.deployment, view.nowMs);
  const event = decideRolloutEvent(view);
  const health = rolloutHealth(stateOfStatus(view.deployment, view.nowMs), view.deployment);
  return [
    `## ${name}`,
    `rollout status: ${rollout.phase}, ends with ${ROLLOUT_EXIT_CODES[outcome]} (${outcome}): ${report.message}`,
    `cause in the report: ${report.cause ? `${report.cause.code}: ${report.cause.summary}` : 'none'}`,
    `explain: ${state}, ${cause}: ${sentence}`,
    ...waitsFor.map(
      (each) => `  ${each.severity} ${each.cause}: ${each.summary} | ${each.unblockedBy.join('; ')}`,
    ),
    `metrics: ${health}, policies: ${policyReasonOf(view.deployment) ?? 'none'}`,
    `top: ${shownByTop ? `${shownByTop.state}: ${shownByTop.why}` : 'not shown'}`,
    `CloudEvent: ${event ? `${event.outcome}, ${event.key}: ${event.body}` : 'none'}`,
    '',
  ].join('\n');
}

it('commands, metrics and events describe each rollout in the words of the golden file', async () => {
  const words = ROLLOUTS.map(({ more, name, shape }) => wordsFor(name, { ...aView(shape), ...more }));
  await expect(words.join('\n')).toMatchFileSnapshot('./rollout-words.golden.txt');
});
