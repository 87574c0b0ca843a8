import type { NodeObstacles, PlacementExplanation, PluginObstacle } from '@rollkeeper/scheduler';

/** More nodes are counted. */
const MOST_NODES = 20;

/** For people. */
export function renderPlacement(explanation: PlacementExplanation): string {
  const { message, nodes, notes, obstacles, pod, preemption, state, summary } = explanation;
  const shown = nodes.slice(0, MOST_NODES);
  return [
    `Pod ${pod}: ${summary}`,
    ...obstacles.flatMap((obstacle) => linesOf(obstacle, '  ')),
    ...(state === 'bound' ? [] : shown.flatMap(nodeLines)),
    ...(nodes.length > shown.length
      ? [`  and ${nodes.length - shown.length} more nodes (--json has them all)`]
      : []),
    ...(preemption
      ? [`  To make room on ${preemption.node}, ${preemption.victims.join(', ')} would be preempted.`]
      : []),
    ...(message === undefined ? [] : [`  The scheduler says: ${message}`]),
    ...notes.map((note) => `  Note: ${note}`),
  ].join('\n');
}

function nodeLines({ node, obstacles }: NodeObstacles): string[] {
  if (obstacles.length === 0) return [`  ${node}: could take it`];
  return [`  ${node}:`, ...obstacles.flatMap((obstacle) => linesOf(obstacle, '    '))];
}

function linesOf({ plugin, reasons, remedy }: PluginObstacle, indent: string): string[] {
  return [
    `${indent}${plugin}: ${reasons.join(', ')}`,
    ...(remedy === undefined || remedy === '' ? [] : [`${indent}  would help: ${remedy}`]),
  ];
}
