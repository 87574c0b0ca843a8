import type { RandomSource } from '@rollkeeper/machinery/clock';
import type { NodeInfo } from '../framework/node-info.js';
import { MAX_NODE_SCORE } from '../framework/plugin.js';
import type { SchedulerPlugin } from '../framework/plugin.js';
import type { Attempt } from './attempt.js';
import type { ScoreTable } from './decision.js';
import { timed } from './point-timer.js';

/**
 * Scores the feasible nodes by every plug-in that has something to say of the pod.
 * @param extra what extenders add to the totals, by node name
 */
export function scoreNodes(
  attempt: Attempt,
  feasible: readonly NodeInfo[],
  extra?: ReadonlyMap<string, number>,
): ScoreTable {
  const prepared = timed(attempt.timer, 'PreScore', () => prepareScores(attempt, feasible));
  return timed(attempt.timer, 'Score', () => sumScores(attempt, feasible, prepared, extra));
}

/** The result of PreScore. */
interface Prepared {
  readonly states: ReadonlyMap<SchedulerPlugin, unknown>;
  readonly skipped: ReadonlySet<SchedulerPlugin>;
}

function prepareScores(attempt: Attempt, feasible: readonly NodeInfo[]): Prepared {
  const states = new Map<SchedulerPlugin, unknown>();
  const skipped = new Set<SchedulerPlugin>();
  for (const plugin of attempt.profile.preScore) {
    attempt.asking = plugin.name;
    const { state, status } = plugin.preScore?.(attempt.context, feasible, attempt.stateOf(plugin)) ?? {};
    if (status?.code === 'Skip') skipped.add(plugin);
    else if (status && status.code !== 'Success') throw new Error(status.reasons.join(', '));
    states.set(plugin, state);
  }
  return { states, skipped };
}

function sumScores(
  attempt: Attempt,
  feasible: readonly NodeInfo[],
  { skipped, states }: Prepared,
  extra: ReadonlyMap<string, number> | undefined,
): ScoreTable {
  const totals = feasible.map(({ name }) => extra?.get(name) ?? 0);
  const byPlugin: { plugin: string; scores: readonly number[] }[] = [];
  for (const { plugin, weight } of attempt.profile.score) {
    if (skipped.has(plugin)) continue;
    attempt.asking = plugin.name;
    const scores = weighted(normalized(plugin, attempt, feasible, states.get(plugin)), weight);
    for (let index = 0; index < scores.length; index++) totals[index]! += scores[index]!;
    byPlugin.push({ plugin: plugin.name, scores });
  }
  return { byPlugin, totals };
}

function normalized(
  plugin: SchedulerPlugin,
  { context }: Attempt,
  feasible: readonly NodeInfo[],
  state: unknown,
): readonly number[] {
  const raw = feasible.map((node) => plugin.score?.(node, context, state) ?? 0);
  return plugin.normalizeScores?.(raw, feasible, context, state) ?? raw;
}

function weighted(scores: readonly number[], weight: number): readonly number[] {
  return scores.map((score) => {
    if (!(score >= 0 && score <= MAX_NODE_SCORE))
      throw new Error(`score ${score} is not in the range 0 to ${MAX_NODE_SCORE}`);
    return score * weight;
  });
}

/** The place of the highest total; of one of them by chance where there are several. */
export function pickBest(totals: readonly number[], random: RandomSource): number {
  let highest = -Infinity;
  let best: number[] = [];
  for (const [place, total] of totals.entries()) {
    if (total > highest) {
      highest = total;
      best = [place];
    } else if (total === highest) best.push(place);
  }
  return best.length === 1 ? best[0]! : best[Math.floor(random.next() * best.length)]!;
}
