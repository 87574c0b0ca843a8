import type { RolloutState } from '@rollkeeper/controllers/deployment';
import { POLICY_CONDITION, SET_ROLLOUT, rolloutState, waitCodeOf } from '@rollkeeper/controllers/deployment';
import { asksForSetPolicies, isHeldAtRest, statefulSetRollout } from '@rollkeeper/controllers/set-rollouts';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { StatefulSet } from '@rollkeeper/runtime';
import type { DiagnosisFinding } from '../diagnosis.js';

type ReadableSet = DeepReadonly<StatefulSet>;

/** Whether its rollouts are under policies, and the controller of these has seen it. */
export function isUnderPolicies({ metadata }: ReadableSet): boolean {
  return metadata.annotations?.[SET_ROLLOUT] !== undefined && asksForSetPolicies(metadata.annotations);
}

/** The waits that the policies of a StatefulSet impose on its rollout, or why they are not followed. */
export function setRolloutFindings(set: ReadableSet, nowMs: number): readonly DiagnosisFinding[] {
  if (!asksForSetPolicies(set.metadata.annotations)) return [];
  if (!isUnderPolicies(set)) return [notFollowed()];
  const { deployment } = statefulSetRollout({ set, revisions: [], pods: [] }, nowMs);
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
    ...stateFindings(set, state),
    ...(isHeldAtRest(set) || problem ? [] : [notHeld()]),
  ];
}

function stateFindings({ metadata }: ReadableSet, state: RolloutState): readonly DiagnosisFinding[] {
  const target = `statefulset/${metadata.name} -n ${metadata.namespace ?? 'default'}`;
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

function notFollowed(): DiagnosisFinding {
  return finding(
    'controller-not-running',
    'note',
    'it asks for rollout policies, and no controller follows them',
    ['start the replicas with --stateful-sets (chart: statefulSets)'],
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
