import type { RolloutState } from '@rollkeeper/controllers/deployment';
import { POLICY_CONDITION, rolloutState, waitCodeOf } from '@rollkeeper/controllers/deployment';
import {
  asksForSetPolicies,
  daemonSetRollout,
  isFirstSeen,
  isHeldAtRest,
  statefulSetRollout,
} from '@rollkeeper/controllers/set-rollouts';
import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';
import type { DaemonSet, StatefulSet } from '@rollkeeper/runtime';
import type { DiagnosisFinding } from '../diagnosis.js';

type AnySet = DeepReadonly<StatefulSet> | DeepReadonly<DaemonSet>;

/** Whether its rollouts are under policies, and the controller of these has seen it. */
export function isUnderPolicies({ metadata }: Pick<AnySet, 'metadata'>): boolean {
  return !isFirstSeen(metadata) && asksForSetPolicies(metadata.annotations);
}

/** The waits that the policies of a StatefulSet impose on its rollout, or why they are not followed. */
export function statefulSetRolloutFindings(
  set: DeepReadonly<StatefulSet>,
  nowMs: number,
): readonly DiagnosisFinding[] {
  const rollout = statefulSetRollout({ set, revisions: [], pods: [] }, nowMs);
  const findings = rolloutFindings(set, 'statefulset', rollout.deployment, nowMs);
  const isOurs = isUnderPolicies(set) && findings.every(({ cause }) => cause !== 'invalid-policy');
  return isOurs && !isHeldAtRest(set) ? [...findings, notHeld()] : findings;
}

/** The same of a DaemonSet. */
export function daemonSetRolloutFindings(
  set: DeepReadonly<DaemonSet>,
  nowMs: number,
): readonly DiagnosisFinding[] {
  const { deployment } = daemonSetRollout({ set, revisions: [], pods: [] }, nowMs);
  return rolloutFindings(set, 'daemonset', deployment, nowMs);
}

function rolloutFindings(
  set: AnySet,
  resource: string,
  deployment: DeepReadonly<Deployment>,
  nowMs: number,
): readonly DiagnosisFinding[] {
  if (!asksForSetPolicies(set.metadata.annotations)) return [];
  if (!isUnderPolicies(set)) return [notFollowed(resource)];
  const state = rolloutState({ deployment, replicaSets: [], pods: [], bakeMs: 0, nowMs });
  const problem = deployment.status?.conditions?.find(({ type }) => type === POLICY_CONDITION);
  return [
    ...(problem
      ? [
          finding('invalid-policy', 'blocked', problem.message ?? '', [
            'what the message names (docs/ROLLOUTS.md)',
          ]),
        ]
      : []),
    ...stateFindings(`${resource}/${set.metadata.name} -n ${set.metadata.namespace ?? 'default'}`, state),
  ];
}

function stateFindings(target: string, state: RolloutState): readonly DiagnosisFinding[] {
  const back = `or roll back with rollkeeper abort ${target}`;
  const { message, phase } = state;
  switch (phase) {
    case 'waiting-for-approval':
      return [finding('waits-for-approval', 'waits', message, [`rollkeeper promote ${target}`, back])];
    case 'waiting-in-step':
    case 'waiting-for-check':
    case 'held':
      return [finding(codeOf(state), 'waits', message, ['what the message names', back])];
    case 'failed':
    case 'rolling-back':
      return [
        finding('failed-template', 'blocked', message, ['another template', `rollkeeper retry ${target}`]),
      ];
    case 'rolled-back':
      return [finding('rolled-back', 'note', message, ['another template', `rollkeeper retry ${target}`])];
    default:
      return [];
  }
}

function codeOf(state: RolloutState): DiagnosisFinding['cause'] {
  return ('reason' in state ? waitCodeOf(state.reason) : undefined) ?? 'waits-in-step';
}

function notFollowed(resource: string): DiagnosisFinding {
  return finding(
    'controller-not-running',
    'note',
    'it asks for rollout policies, and no controller follows them',
    [`start the replicas with --${resource.replace('set', '-sets')}`],
  );
}

function notHeld(): DiagnosisFinding {
  const summary = 'its partition lets a change of the template begin before the policies have seen it';
  return finding('partition', 'note', summary, [
    'the next look of the controller, which raises the partition',
  ]);
}

function finding(
  cause: DiagnosisFinding['cause'],
  severity: DiagnosisFinding['severity'],
  summary: string,
  unblockedBy: readonly string[],
): DiagnosisFinding {
  return { cause, severity, summary, unblockedBy };
}
