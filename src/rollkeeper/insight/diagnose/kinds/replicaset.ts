import { counted } from '@rollkeeper/machinery/text';
import { Event, Node, Pod, ReplicaSet, isPodReady } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { describeReason } from '@rollkeeper/controllers/shared';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import { deletionFindings, findingsOfPods, podsOf, refusalOf, unobservedFindings } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';

/** ReplicaSets: why there are fewer pods than it should have. */
export const replicaSetDiagnosis: KindDiagnosis<ReplicaSet> = {
  type: ReplicaSet,
  aliases: ['rs'],
  needs: (namespace) => [...inNamespace([Pod, Event], namespace), { type: Node }],
  judge(set, snapshot, nowMs): Verdict {
    const { minReadySeconds, replicas = 1 } = set.spec;
    const pods = podsOf(snapshot, set);
    const ready = pods.filter((pod) => isPodReady(pod)).length;
    const good =
      replicas === 0
        ? ({ state: 'scaled-to-zero', sentence: 'no pods are requested' } as const)
        : ({ state: 'complete', sentence: `${counted(replicas, 'pod')} ready` } as const);
    const deletion = deletionFindings(set, `its ${counted(pods.length, 'pod')}`);
    if (deletion.length > 0) return { findings: deletion, good, bad: 'deleting' };
    return {
      good,
      progress: `${ready} of ${counted(replicas, 'pod')} ready`,
      findings: [
        ...unobservedFindings(set, set.status?.observedGeneration, 'ReplicaSet', nowMs),
        ...failureFindings(set),
        ...findingsOfPods(pods, { snapshot, nowMs, minReadySeconds }),
      ],
    };
  },
};

function failureFindings({ status }: DeepReadonly<ReplicaSet>): DiagnosisFinding[] {
  const failure = status?.conditions?.find(
    ({ status: value, type }) => type === 'ReplicaFailure' && value === 'True',
  );
  if (!failure) return [];
  const { lastTransitionTime, message = '', reason = 'ReplicaFailure' } = failure;
  return [
    {
      ...refusalOf(message),
      severity: 'blocked',
      summary: `its pods cannot be created: ${describeReason({ reason, message })}`,
      ...(lastTransitionTime !== undefined && { since: lastTransitionTime }),
    },
  ];
}
