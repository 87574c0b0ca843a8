import { findCondition } from '@rollkeeper/machinery/kubernetes';
import { drainingFindings } from './draining-findings.js';
import { explainSizes } from './arithmetic.js';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { ended } from '../ended.js';
import type { ExplainInput } from './explain-input.js';
import type {
  CauseCode,
  Explanation,
  ExplanationState,
  Finding,
  Limits,
  ReplicaSetArithmetic,
  Severity,
} from './explanation.js';
import { limitFindings } from './limit-findings.js';
import { nextSyncFindings } from './next-sync-findings.js';
import { podFindings } from './pod-findings.js';
import type { RolloutFacts } from './rollout-facts.js';
import { collectFacts } from './rollout-facts.js';
import {
  controlFindings,
  deletionOf,
  environmentFindings,
  failureFindings,
  refusalOf,
} from './standing-findings.js';
import type { RolloutState } from '@rollkeeper/controllers/deployment';
import {
  driftSentence,
  isCustomDeployment,
  isRolledOut,
  readDrift,
  rolloutState,
} from '@rollkeeper/controllers/deployment';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';

/**
 * Explains, purely, the state of a Deployment's rollout: what it waits for, the arithmetic behind each ReplicaSet's
 * size (with the controller's own functions), and what would unblock it. Causes are in the order in which a person
 * should look at them.
 */
export function explainDeployment(input: ExplainInput): Explanation {
  const rollout = rolloutState(input);
  const refusal = refusalOf(input);
  if (refusal) {
    const findings = [refusal, ...failureFindings(input), ...controlFindings(input)];
    return withoutFacts(input, rollout, withCommandsFor(input.deployment, findings));
  }
  const facts = collectFacts(input);
  const deletion = deletionOf(input);
  if (deletion) return describe(input, facts, rollout, 'deleting', [deletion]);
  const findings = withCommandsFor(input.deployment, findAll(input, facts, rollout));
  return describe(input, facts, rollout, stateOf(input, facts, findings), findings);
}

function findAll(input: ExplainInput, facts: RolloutFacts, rollout: RolloutState): Finding[] {
  const { deployment } = input;
  const all = [
    ...controlFindings(input),
    ...(deployment.spec.paused ? [pausedFinding(isComplete(facts))] : []),
    ...policyFindings(facts),
    ...bakeFinding(rollout),
    ...drainingFindings(input),
    ...driftFinding(input),
    ...environmentFindings(input, facts),
    ...failureFindings(input),
    ...podFindings(input, facts),
    ...(deployment.spec.paused || input.sizedElsewhere
      ? []
      : [...limitFindings(input, facts), ...nextSyncFindings(input, facts)]),
  ];
  const told = isComplete(facts) ? all.map(asNoteWhenThrough) : blockedByDeadline(all);
  const rank = { blocked: 0, waits: 1, note: 2 };
  return told.toSorted((a, b) => rank[a.severity] - rank[b.severity]);
}

/** Pods that should have ended do not matter once all requested ones are available. */
function asNoteWhenThrough(finding: Finding): Finding {
  return finding.cause === 'terminating' ? { ...finding, severity: 'note' } : finding;
}

/** After the deadline the rollout is stuck, even without a known obstacle: pods that start forever, say. */
function blockedByDeadline(findings: readonly Finding[]): readonly Finding[] {
  if (findings.some(({ severity }) => severity === 'blocked')) return findings;
  return findings.map((finding) =>
    finding.cause === 'deadline-exceeded' ? { ...finding, severity: 'blocked' as const } : finding,
  );
}

function pausedFinding(complete: boolean): Finding {
  return {
    cause: 'paused',
    severity: 'blocked',
    summary: complete
      ? 'it is paused; the rollout was complete before that'
      : 'it is paused: it can be scaled, but changes of the template are not rolled out',
    unblockedBy: ['kubectl rollout resume'],
  };
}

/** A version that is complete, and may still fail. */
function bakeFinding(state: RolloutState): Finding[] {
  if (state.phase !== 'baking') return [];
  const until = toRfc3339(state.untilMs);
  return [{ cause: 'baking', severity: 'note', summary: `it is watched until ${until}`, unblockedBy: [] }];
}

/** Pods that were started before a webhook changed: nothing waits for them. */
function driftFinding({ deployment }: ExplainInput): Finding[] {
  const drift = readDrift(deployment.metadata.annotations);
  if (!drift || drift.stale === 0) return [];
  const unblockedBy = ['kubectl rollout restart', 'the annotation rollkeeper.dev/restart-on: admission'];
  return [{ cause: 'admission-drift', severity: 'note', summary: driftSentence(drift), unblockedBy }];
}

function isComplete({ counts, limits, latest, old }: RolloutFacts): boolean {
  const { replicas } = limits;
  const nothingOld = old.every(({ draft, size }) => size === 0 && (draft.status.replicas ?? 0) === 0);
  return (
    nothingOld &&
    (latest?.size ?? 0) === replicas &&
    counts.updated === replicas &&
    (latest?.available ?? 0) === replicas
  );
}

/** With one of these, lost pods are not replaced, which is worse than the loss itself. */
const UNCONTROLLED: ReadonlySet<CauseCode> = new Set([
  'controller-not-running',
  'namespace-terminating',
  'parked',
  'store-silent',
  'api-silent',
]);

/**
 * Whether the rollout was complete, nothing else has been requested since, and pods that were ready are not. A
 * Deployment that was just scaled up has pods that were never ready: it is rolling out, or stuck.
 */
function isDegraded({ deployment }: ExplainInput, { latest, limits, old }: RolloutFacts): boolean {
  const { metadata, status } = deployment;
  const wasThrough =
    isRolledOut(findCondition(status?.conditions, 'Progressing')?.reason) &&
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
    old.every(({ size }) => size === 0);
  if (!wasThrough || !latest || latest.available >= limits.replicas) return false;
  return latest.pods.some(({ wasReady }) => wasReady);
}

function stateOf(input: ExplainInput, facts: RolloutFacts, findings: readonly Finding[]): ExplanationState {
  if (input.deployment.spec.paused) return 'paused';
  const [worst] = findings;
  const isControlled = !findings.some(({ cause }) => UNCONTROLLED.has(cause));
  if (isControlled && isDegraded(input, facts)) return 'degraded';
  if (worst?.severity === 'blocked') return 'blocked';
  if (worst?.severity === 'waits' || !isComplete(facts)) return 'progressing';
  return facts.limits.replicas === 0 ? 'scaled-to-zero' : 'complete';
}

function describe(
  input: ExplainInput,
  facts: RolloutFacts,
  rollout: RolloutState,
  state: ExplanationState,
  findings: readonly Finding[],
): Explanation {
  const { counts, deadline, limits } = facts;
  return {
    ...identityOf(input),
    state,
    phase: rollout.phase,
    ...headlineOf(state, facts, findings),
    waitsFor: findings,
    limits: limitsIn(input, limits),
    counts,
    deadline,
    replicaSets: sizesIn(input, facts),
    lastDecisions: input.decisions ?? [],
    unblockedBy: unblockers(findings),
  };
}

function limitsIn({ sizedElsewhere }: ExplainInput, limits: Limits): Limits {
  if (!sizedElsewhere) return limits;
  const { replicas } = limits;
  const maxUnavailable = Math.min(replicas, sizedElsewhere.mostUnavailable);
  return { ...limits, maxSurge: 0, maxUnavailable, ceiling: replicas, floor: replicas - maxUnavailable };
}

function sizesIn(
  { deployment, sizedElsewhere }: ExplainInput,
  facts: RolloutFacts,
): readonly ReplicaSetArithmetic[] {
  const sizes = explainSizes(facts, deployment.spec.paused === true);
  return sizedElsewhere ? sizes.map((each) => ({ ...each, nextSize: each.size, because: [] })) : sizes;
}

function headlineOf(
  state: ExplanationState,
  { counts, limits }: RolloutFacts,
  findings: readonly Finding[],
): { cause: CauseCode; sentence: string } {
  const [first] = findings;
  const progress = `${counts.updated} of ${limits.replicas} pods are new, ${counts.available} available`;
  if (state === 'scaled-to-zero') return { cause: state, sentence: 'Scaled to 0: no pods are requested.' };
  const rolledBack = state === 'complete' ? findings.find(({ cause }) => cause === 'rolled-back') : undefined;
  if (rolledBack) {
    const sentence = ended(`Rolled back: ${whole(limits.replicas)} available; ${rolledBack.summary}`);
    return { cause: rolledBack.cause, sentence };
  }
  const baking = findings.find(({ cause }) => cause === 'baking');
  if (state === 'complete') {
    const watched = baking ? `; ${baking.summary}` : '';
    const draining = findings.find(({ cause }) => cause === 'draining');
    const left = draining ? `; ${draining.summary}` : '';
    return {
      cause: state,
      sentence: `Complete: ${whole(limits.replicas)} new and available${watched}${left}.`,
    };
  }
  if (!first) return { cause: 'starting', sentence: `Rolling out: ${progress}.` };
  const words = {
    blocked: 'Stuck',
    degraded: 'Degraded',
    progressing: 'Rolling out',
    paused: 'Paused',
    deleting: 'Deleting',
  }[state];
  return { cause: first.cause, sentence: ended(`${words}: ${progress}; ${first.summary}`) };
}

function whole(replicas: number): string {
  return replicas === 1 ? 'its pod is' : `all ${replicas} pods are`;
}

function withoutFacts(input: ExplainInput, rollout: RolloutState, findings: readonly Finding[]): Explanation {
  const { status } = input.deployment;
  const [first] = findings;
  return {
    ...identityOf(input),
    state: 'blocked',
    phase: rollout.phase,
    cause: first?.cause ?? 'invalid-spec',
    sentence: ended(`Stuck: ${first?.summary ?? 'its spec is invalid'}`),
    waitsFor: findings,
    counts: {
      total: status?.replicas ?? 0,
      updated: status?.updatedReplicas ?? 0,
      ready: status?.readyReplicas ?? 0,
      available: status?.availableReplicas ?? 0,
    },
    replicaSets: [],
    lastDecisions: input.decisions ?? [],
    unblockedBy: unblockers(findings),
  };
}

function identityOf({
  deployment,
}: ExplainInput): Pick<Explanation, 'namespace' | 'name' | 'generation' | 'observedGeneration'> {
  const { generation = 0, name, namespace = '' } = deployment.metadata;
  return { namespace, name, generation, observedGeneration: deployment.status?.observedGeneration ?? 0 };
}

/** The remedies of the blocking findings, otherwise of the waiting ones; each once. */
function unblockers(findings: readonly Finding[]): string[] {
  const blocked = findings.filter(({ severity }) => severity === 'blocked');
  const relevant = blocked.length > 0 ? blocked : findings;
  return [...new Set(relevant.flatMap(({ unblockedBy }) => unblockedBy))];
}

/** kubectl commands with a fixed list of kinds do not accept custom resources: the replacements for those. */
const FOR_CUSTOM_RESOURCES: readonly (readonly [kubectl: string, instead: string])[] = [
  ['kubectl rollout', 'rollkeeper rollout'],
  ['kubectl set image', 'kubectl patch'],
];

/** Adapts the findings' commands to the Deployment's API. */
function withCommandsFor(
  deployment: DeepReadonly<Deployment>,
  findings: readonly Finding[],
): readonly Finding[] {
  if (!isCustomDeployment(deployment)) return findings;
  return findings.map((finding) => ({ ...finding, unblockedBy: finding.unblockedBy.map(reworded) }));
}

function reworded(advice: string): string {
  return FOR_CUSTOM_RESOURCES.reduce((text, [kubectl, instead]) => text.replaceAll(kubectl, instead), advice);
}

/** Why the policies in the Deployment's annotations do not let the rollout simply continue. */
function policyFindings({ standing }: RolloutFacts): Finding[] {
  if (!standing) return [];
  const { code, sentence, unblockedBy, endsByItself } = standing;
  const isNote = code === 'rolled-back';
  // A rollout that waits for an approval, or for a freeze to end, does what its policy asks for: it is not stuck.
  const isStuck =
    code === 'check-failed' || code === 'invalid-policy' || (code === 'failed-template' && !endsByItself);
  const severity: Severity = isNote ? 'note' : isStuck ? 'blocked' : 'waits';
  return [{ cause: code, severity, summary: sentence, unblockedBy: [...unblockedBy] }];
}
