import { counted } from '@rollkeeper/machinery/text';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Explanation } from './explanation.js';

/** The explanation as text for people. */
export function renderExplanation(explanation: Explanation): string {
  return [
    `Deployment ${explanation.namespace}/${explanation.name}`,
    explanation.sentence,
    ...limitLines(explanation),
    ...section('Waits for', explanation.waitsFor.flatMap(findingLines)),
    ...section('ReplicaSets', explanation.replicaSets.flatMap(replicaSetLines)),
    ...section(
      'What would unblock it',
      explanation.unblockedBy.map((way) => `- ${way}`),
    ),
    ...section('Last decisions', explanation.lastDecisions.map(decisionLine)),
  ].join('\n');
}

function limitLines({ counts, deadline, limits }: Explanation): string[] {
  if (!limits) return [];
  const pods = `${counted(counts.total, 'pod')}: ${counts.updated} new, ${counts.ready} ready, ${counts.available} available`;
  const range = `at least ${limits.floor} available, at most ${limits.ceiling} in all`;
  return [
    '',
    `${pods} (desired: ${limits.replicas}; ${limits.strategy}, ${range})`,
    ...deadlineLine(deadline),
  ];
}

function deadlineLine(deadline: Explanation['deadline']): string[] {
  if (deadline?.exceeded) return [`The deadline of ${deadline.seconds} s has passed.`];
  if (deadline?.remainingSeconds === undefined) return [];
  return [
    `Without progress, the deadline of ${deadline.seconds} s passes in ${deadline.remainingSeconds} s.`,
  ];
}

function findingLines({ cause, pods = [], severity, summary }: Explanation['waitsFor'][number]): string[] {
  return [
    `- [${severity}] ${cause}: ${summary}`,
    ...pods.map(
      ({ message, name, node, reason }) =>
        `    ${name}${node ? ` on ${node}` : ''}: ${reason}${message ? `: ${message}` : ''}`,
    ),
  ];
}

function replicaSetLines(set: Explanation['replicaSets'][number]): string[] {
  const revision = set.revision === undefined ? '' : `, revision ${set.revision}`;
  return [
    `- ${set.name} (${set.role}${revision}; ${set.images.join(', ')}): size ${set.size}, ready ${set.ready}, available ${set.available}`,
    ...set.because.map((sum) => `    ${sum}`),
  ];
}

function decisionLine({
  actions,
  atMs,
  error,
  replica,
  setback,
  traceId,
}: Explanation['lastDecisions'][number]): string {
  const end = [
    ...(error === undefined ? [] : [`failed: ${error}`]),
    ...(setback === undefined ? [] : [setback]),
  ];
  const what = [...actions, ...end].join('; ');
  return `- ${toRfc3339(atMs)} ${replica}: ${what}${traceId ? ` (trace ${traceId})` : ''}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines];
}
