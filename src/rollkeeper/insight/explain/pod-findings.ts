import type { ClassifiedPod, TroubleState } from '@rollkeeper/controllers/shared';
import { POD_TROUBLES, describeReason } from '@rollkeeper/controllers/shared';
import type { ExplainInput } from './explain-input.js';
import type { CauseCode, Finding } from './explanation.js';
import { lossFindings } from './loss-findings.js';
import { countOf, named } from './named-pods.js';
import { imageRemedies, unschedulableRemedies } from './pod-remedies.js';
import type { ReplicaSetFacts, RolloutFacts } from './rollout-facts.js';

interface Words {
  readonly cause: CauseCode;
  /** @param why the API's own words, see {@link describeReason} */
  readonly says: (pods: readonly ClassifiedPod[], why: string) => string;
  /** @param first of the pods */
  readonly unblockedBy: (first: ClassifiedPod) => readonly string[];
}

const TROUBLES: Readonly<Record<TroubleState, Words>> = {
  image: {
    cause: 'image-pull',
    says: (pods, why) => `the image of ${countOf(pods)} cannot be pulled: ${why}`,
    unblockedBy: imageRemedies,
  },
  crash: {
    cause: 'crash-loop',
    says: (pods, why) => `a container of ${countOf(pods)} keeps ending: ${why}`,
    unblockedBy: () => [
      'find the cause with kubectl logs --previous, and roll out a version that does not crash',
      'or roll back with kubectl rollout undo',
    ],
  },
  config: {
    cause: 'container-config',
    says: (pods, why) => `a container of ${countOf(pods)} cannot be created: ${why}`,
    unblockedBy: () => [
      'create the ConfigMap, Secret or key that the template names, or correct the template',
    ],
  },
  unschedulable: {
    cause: 'unschedulable',
    says: (pods, why) => `no node takes ${countOf(pods)}: ${why}`,
    unblockedBy: ({ message }) => unschedulableRemedies(message),
  },
  rejected: {
    cause: 'rejected-by-node',
    says: (pods, why) => `a node rejected ${countOf(pods)}: ${why}`,
    unblockedBy: () => [
      'see what the node lacks with kubectl describe node; the ReplicaSet replaces failed pods',
    ],
  },
  unready: {
    cause: 'not-ready',
    says: (pods, why) => `${countOf(pods)} ${pods.length === 1 ? 'does' : 'do'} not become ready: ${why}`,
    unblockedBy: () => ['check the readiness probe with kubectl describe pod, and the logs of the container'],
  },
};

/** The findings about the pods of the ReplicaSets with a target size. */
export function podFindings(
  { nodesNotReady }: ExplainInput,
  { latest, old, limits }: RolloutFacts,
): Finding[] {
  const findings = latest && latest.nextSize > 0 ? troublesOf([latest], nodesNotReady) : [];
  const newIsDone = latest !== undefined && latest.available >= limits.replicas;
  const keeping = newIsDone ? [] : old.filter(({ nextSize }) => nextSize > 0);
  const ofOld = troublesOf(keeping, nodesNotReady).filter(
    ({ cause }) => !findings.some((finding) => finding.cause === cause),
  );
  return [...findings, ...ofOld.map((finding) => ({ ...finding, severity: 'note' as const }))];
}

function troublesOf(
  sets: readonly ReplicaSetFacts[],
  nodesNotReady: ExplainInput['nodesNotReady'],
): Finding[] {
  const pods = sets.flatMap((set) => set.pods);
  return [...podTroubleFindings(pods, nodesNotReady), ...waitingForTime(sets, pods)];
}

/** The findings that keep these pods from being ready, the most urgent first; they may belong to any kind of owner. */
export function podTroubleFindings(
  all: readonly ClassifiedPod[],
  nodesNotReady: ExplainInput['nodesNotReady'],
): Finding[] {
  const lost = all.filter(isLost);
  const pods = all.filter((pod) => !isLost(pod));
  return [
    ...lossFindings(lost, nodesNotReady),
    ...POD_TROUBLES.flatMap((state) => findingOf(state, pods)),
    ...startingFinding(pods),
  ];
}

function isLost({ state, wasReady }: ClassifiedPod): boolean {
  return wasReady === true && state === 'unready';
}

function findingOf(state: TroubleState, all: readonly ClassifiedPod[]): Finding[] {
  const pods = all.filter((pod) => pod.state === state);
  const [first] = pods;
  if (!first) return [];
  const { cause, says, unblockedBy } = TROUBLES[state];
  const summary = says(pods, describeReason(first));
  return [{ cause, severity: 'blocked', summary, pods: named(pods), unblockedBy: unblockedBy(first) }];
}

function startingFinding(all: readonly ClassifiedPod[]): Finding[] {
  const pods = all.filter(({ state }) => state === 'starting' || state === 'pending');
  const [first] = pods;
  if (!first) return [];
  const why = first.reason === 'Starting' ? '' : ` (${first.reason})`;
  const summary = `${countOf(pods)} ${pods.length === 1 ? 'is' : 'are'} starting${why}`;
  const unblockedBy = ['pods becoming ready'];
  return [{ cause: 'starting', severity: 'waits', summary, pods: named(pods), unblockedBy }];
}

function waitingForTime(sets: readonly ReplicaSetFacts[], all: readonly ClassifiedPod[]): Finding[] {
  const pods = all.filter(({ state }) => state === 'ready');
  if (pods.length === 0) return [];
  const seconds = Math.ceil(Math.max(...pods.map(({ availableInMs = 0 }) => availableInMs)) / 1000);
  const wanted = Math.max(...sets.map(({ draft }) => draft.minReadySeconds));
  const summary = `${countOf(pods)} must stay ready for minReadySeconds ${wanted}; the last counts as available in ${seconds} s`;
  const unblockedBy = [`${seconds} s without a pod failing`];
  return [{ cause: 'min-ready-seconds', severity: 'waits', summary, pods: named(pods), unblockedBy }];
}
