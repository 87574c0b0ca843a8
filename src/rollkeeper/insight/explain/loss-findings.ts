import type { ClassifiedPod } from '@rollkeeper/controllers/shared';
import { describeReason } from '@rollkeeper/controllers/shared';
import type { ExplainInput } from './explain-input.js';
import type { Finding } from './explanation.js';
import { countOf, named } from './named-pods.js';

/** Pods that were ready and are not: grouped by their node if it is not ready, the others together. */
export function lossFindings(
  pods: readonly ClassifiedPod[],
  nodesNotReady: ExplainInput['nodesNotReady'],
): Finding[] {
  const byNode = Map.groupBy(pods, (pod) => (isByItsNode(pod, nodesNotReady) ? (pod.node ?? '') : ''));
  const { '': others = [], ...onNodes } = Object.fromEntries(byNode);
  return [
    ...Object.entries(onNodes).map(([node, lost]) => nodeFinding(node, lost, nodesNotReady)),
    ...(others.length > 0 ? [otherFinding(others)] : []),
  ];
}

/** Without information about nodes, the pod itself shows it: only the node controller leaves its containers ready. */
function isByItsNode(
  { isUnheardOf, node }: ClassifiedPod,
  nodesNotReady: ExplainInput['nodesNotReady'],
): boolean {
  if (node === undefined) return false;
  return nodesNotReady ? nodesNotReady.has(node) : isUnheardOf === true;
}

function nodeFinding(
  node: string,
  pods: readonly ClassifiedPod[],
  nodesNotReady: ExplainInput['nodesNotReady'],
): Finding {
  const sinceTime = nodesNotReady?.get(node);
  const since = sinceTime === undefined ? '' : ` since ${sinceTime}`;
  const which = nodesNotReady ? `which is not Ready${since}` : 'which stopped reporting';
  return {
    cause: 'node-not-ready',
    severity: 'blocked',
    summary: `${wereReady(pods)}, on node ${node}, ${which}`,
    pods: named(pods),
    unblockedBy: [
      `node ${node} becoming Ready: kubectl describe node ${node}, and its kubelet`,
      'or the eviction of its pods, by default after 300 s (tolerationSeconds); replacements then start on other nodes',
    ],
  };
}

function otherFinding(pods: readonly ClassifiedPod[]): Finding {
  const [first] = pods;
  return {
    cause: 'no-longer-ready',
    severity: 'blocked',
    summary: `${wereReady(pods)}${first ? `: ${describeReason(first)}` : ''}`,
    pods: named(pods),
    unblockedBy: ['check the readiness probe with kubectl describe pod, and the logs of the container'],
  };
}

function wereReady(pods: readonly ClassifiedPod[]): string {
  return `${countOf(pods)} ${pods.length === 1 ? 'was' : 'were'} ready and ${pods.length === 1 ? 'is' : 'are'} not`;
}
