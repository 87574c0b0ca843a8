import type { ClassifiedPod, PodState } from './classify-pod.js';
import type { CauseCode, Finding, Severity } from './explanation.js';
import type { ReplicaSetFacts, RolloutFacts } from './rollout-facts.js';

/** More pods than this are counted, not named. */
const NAMED_PODS = 10;

interface Trouble {
  readonly states: readonly PodState[];
  readonly cause: CauseCode;
  readonly severity: Severity;
  readonly says: (pods: string, first: ClassifiedPod) => string;
  readonly unblockedBy: readonly string[];
}

/** In the order in which a person should look at them. */
const TROUBLES: readonly Trouble[] = [
  {
    states: ['image'],
    cause: 'image-pull',
    severity: 'blocked',
    says: (pods, { message, reason }) => `the image of ${pods} cannot be pulled (${detail(reason, message)})`,
    unblockedBy: [
      'correct the image (kubectl set image), push it, or give the pods an imagePullSecret',
      'or go back with kubectl rollout undo',
    ],
  },
  {
    states: ['crash'],
    cause: 'crash-loop',
    severity: 'blocked',
    says: (pods, { message, reason }) => `a container of ${pods} keeps ending (${detail(reason, message)})`,
    unblockedBy: [
      'see why with kubectl logs --previous, and roll out a version that stays up',
      'or go back with kubectl rollout undo',
    ],
  },
  {
    states: ['config'],
    cause: 'container-config',
    severity: 'blocked',
    says: (pods, { message, reason }) =>
      `a container of ${pods} cannot be created (${detail(reason, message)})`,
    unblockedBy: ['create the ConfigMap, Secret or key that the template names, or correct the template'],
  },
  {
    states: ['unschedulable'],
    cause: 'unschedulable',
    severity: 'blocked',
    says: (pods, { message, reason }) => `no node takes ${pods} (${detail(reason, message)})`,
    unblockedBy: [
      'add nodes or free room on them',
      "or ask for less: the template's requests, node selector, affinity, tolerations",
    ],
  },
  {
    states: ['rejected'],
    cause: 'rejected-by-node',
    severity: 'blocked',
    says: (pods, { message, reason }) => `a node sent back ${pods} (${detail(reason, message)})`,
    unblockedBy: ['see what the node lacks with kubectl describe node; the ReplicaSet replaces failed pods'],
  },
  {
    states: ['unready'],
    cause: 'not-ready',
    severity: 'blocked',
    says: (pods, { message }) =>
      `${pods} ${pods.startsWith('pod ') ? 'does' : 'do'} not become ready (${message ?? 'no readiness'})`,
    unblockedBy: ['see the readiness probe with kubectl describe pod, and what the container logs'],
  },
  {
    states: ['starting', 'pending'],
    cause: 'starting',
    severity: 'waits',
    says: (pods, { reason }) =>
      `${pods} ${pods.startsWith('pod ') ? 'is' : 'are'} starting${reason === 'Starting' ? '' : ` (${reason})`}`,
    unblockedBy: ['pods becoming ready'],
  },
];

/** What the pods of the ReplicaSets that should have them are waiting for. */
export function podFindings({ newOne, old, limits }: RolloutFacts): Finding[] {
  const findings = newOne && newOne.nextSize > 0 ? troublesOf([newOne]) : [];
  const newIsDone = newOne !== undefined && newOne.available >= limits.replicas;
  const keeping = newIsDone ? [] : old.filter(({ nextSize }) => nextSize > 0);
  const ofOld = troublesOf(keeping).filter(
    ({ cause }) => !findings.some((finding) => finding.cause === cause),
  );
  return [...findings, ...ofOld.map((finding) => ({ ...finding, severity: 'note' as const }))];
}

function troublesOf(sets: readonly ReplicaSetFacts[]): Finding[] {
  const pods = sets.flatMap((set) => set.pods);
  return [...TROUBLES.flatMap((trouble) => findingOf(trouble, pods)), ...waitingForTime(sets, pods)];
}

function findingOf(trouble: Trouble, all: readonly ClassifiedPod[]): Finding[] {
  const pods = all.filter(({ state }) => trouble.states.includes(state));
  const [first] = pods;
  if (!first) return [];
  const { cause, severity, unblockedBy } = trouble;
  return [{ cause, severity, summary: trouble.says(countOf(pods), first), pods: named(pods), unblockedBy }];
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

/** `pod a`, `12 pods`: their names stand beside the sentence. */
export function countOf(pods: readonly ClassifiedPod[]): string {
  return pods.length === 1 ? `pod ${pods[0]?.name}` : `${pods.length} pods`;
}

export function named(pods: readonly ClassifiedPod[]): NonNullable<Finding['pods']> {
  return pods
    .slice(0, NAMED_PODS)
    .map(({ message, name, reason }) => ({ name, reason, ...(message === undefined ? {} : { message }) }));
}

function detail(reason: string, message: string | undefined): string {
  return message === undefined || message === '' ? reason : `${reason}: ${message}`;
}
