import { expect, it } from 'vitest';
import { countPolicyReasons, decideDeploymentState } from '../deployment-states/deployment-states.js';
import { explainDeployment } from '../explain/index.js';
import { decideRolloutEvent } from '../rollout-events/decide-rollout-event.js';
import { rolloutOfObject } from '../top/read-top.js';
import type { RolloutView } from './decide-rollout-end.js';
import { decideRolloutEnd } from './decide-rollout-end.js';
import { describeRollout } from './describe-rollout.js';
import { OUTCOME_OF_PHASE, ROLLOUT_EXIT_CODES } from './rollout-outcome.js';
import { ROLLOUTS, aView } from './rollouts.fixture.js';

/** The words of every command, page, metric and event for one rollout. */
function wordsFor(name: string, view: RolloutView): string {
  const position = decideRolloutEnd(view);
  const outcome = OUTCOME_OF_PHASE[position.phase];
  const report = describeRollout({ view, position, isWhole: true, isLast: true });
  const { cause, sentence, state, waitsFor } = explainDeployment(view);
  const [shownByTop] = rolloutOfObject(view.deployment);
  const event = decideRolloutEvent(view);
  const reasons = [...countPolicyReasons([view.deployment])].filter(([, count]) => count > 0);
  return [
    `## ${name}`,
    `rollout status: ${position.phase}, ends with ${ROLLOUT_EXIT_CODES[outcome]} (${outcome}): ${report.message}`,
    `cause in the report: ${report.cause ? `${report.cause.code}: ${report.cause.summary}` : 'none'}`,
    `explain: ${state}, ${cause}: ${sentence}`,
    ...waitsFor.map(
      (each) => `  ${each.severity} ${each.cause}: ${each.summary} | ${each.unblockedBy.join('; ')}`,
    ),
    `metrics: ${decideDeploymentState(view.deployment)}, policies: ${reasons.map(([reason]) => reason).join(', ') || 'none'}`,
    `top: ${shownByTop ? `${shownByTop.state}: ${shownByTop.why}` : 'not shown'}`,
    `CloudEvent: ${event ? `${event.outcome}, ${event.key}: ${event.body}` : 'none'}`,
    '',
  ].join('\n');
}

it('every place that tells of a rollout has the words that users know', async () => {
  const words = ROLLOUTS.map(({ more, name, shape }) => wordsFor(name, { ...aView(shape), ...more }));
  await expect(words.join('\n')).toMatchFileSnapshot('./rollout-words.golden.txt');
});
