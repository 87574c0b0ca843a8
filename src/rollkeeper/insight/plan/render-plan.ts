import { counted } from '@rollkeeper/machinery/text';
import type { RolloutPlan } from './simulate-rollout.js';

/** The plan as a table for people. */
export function renderPlan(plan: RolloutPlan): string {
  const { ceiling, fewestAvailable, floor, mostPods, name, namespace, replicas, steps, strategy } = plan;
  const title = `Deployment ${namespace}/${name}: ${counted(replicas, 'replica')}, ${strategy}, at least ${floor} available, at most ${ceiling} in all`;
  if (steps.length === 0) return `${title}\nNothing would change.`;
  const rows = [
    ['STEP', 'NEW', 'OLD', 'TOTAL', 'OVER', 'AVAILABLE', 'UNDER', 'WHAT'],
    ...steps.map(({ actions, available, newSize, oldSize, over, step, total, under }) => [
      ...[step, newSize, oldSize, total, `+${over}`, available, `-${under}`].map(String),
      actions.join('; '),
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const table = rows.map((row) =>
    row.map((cell, column) => (column < 7 ? cell.padStart(widths[column] ?? 0) : cell)).join('  '),
  );
  const summary = `${counted(steps.length, 'step')}; at most ${counted(mostPods, 'pod')}, at least ${fewestAvailable} available.`;
  const rest = plan.completes ? '' : ' It would rest there, not complete.';
  return [title, '', ...table, '', `${summary}${rest} Assumes that every new pod becomes ready.`].join('\n');
}
