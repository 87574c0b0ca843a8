import { counted } from '@rollkeeper/machinery/text';
import { DaemonSet } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Event, Node, Pod, isPodReady } from '@rollkeeper/machinery/kubernetes';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import {
  countIs,
  creationFindings,
  deletionFindings,
  findingsOfPods,
  podsOf,
  unobservedFindings,
  warningsAbout,
} from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';
import { daemonSetRolloutFindings, isUnderPolicies } from './set-rollout-findings.js';

/** DaemonSets: a ready pod on each node that it selects. */
export const daemonSetDiagnosis: KindDiagnosis<DaemonSet> = {
  type: DaemonSet,
  aliases: ['ds'],
  needs: (namespace) => [...inNamespace([Pod, Event], namespace), { type: Node }],
  judge(set, snapshot, nowMs): Verdict {
    const pods = podsOf(snapshot, set);
    const { desiredNumberScheduled: wanted = 0, observedGeneration } = set.status ?? {};
    const ready = pods.filter((pod) => isPodReady(pod)).length;
    const good = {
      state: 'complete',
      sentence: wanted === 0 ? 'no node is selected' : `a ready pod on ${counted(wanted, 'node')}`,
    } as const;
    const deletion = deletionFindings(set, `its ${counted(pods.length, 'pod')}`);
    if (deletion.length > 0) return { findings: deletion, good, bad: 'deleting' };
    const findings = [
      ...unobservedFindings(set, observedGeneration, 'DaemonSet', nowMs),
      ...(pods.length < wanted ? creationFindings(warningsAbout(snapshot, set, nowMs)) : []),
      ...findingsOfPods(pods, { snapshot, nowMs, minReadySeconds: set.spec.minReadySeconds }),
      ...selectionFindings(set),
      ...daemonSetRolloutFindings(set, nowMs),
      ...(isUnderPolicies(set) ? [] : updateFindings(set)),
    ];
    const progress = `${ready} of ${counted(wanted, 'node')} with a ready pod`;
    return {
      findings,
      good,
      progress,
      ...(ready > 0 && ready < wanted && { bad: 'degraded' as const }),
    };
  },
};

function selectionFindings({ spec, status }: DeepReadonly<DaemonSet>): DiagnosisFinding[] {
  const findings: DiagnosisFinding[] = [];
  const { desiredNumberScheduled = 0, numberMisscheduled = 0, observedGeneration } = status ?? {};
  if (desiredNumberScheduled === 0 && observedGeneration !== undefined) {
    const { affinity, nodeSelector } = spec.template.spec ?? {};
    const asks = nodeSelector ?? affinity?.nodeAffinity;
    findings.push({
      cause: 'no-node-selected',
      severity: 'note',
      summary: `its template matches no node${asks === undefined ? ' (taints that it does not tolerate, or no nodes)' : ' (nodeSelector, affinity, taints)'}`,
      unblockedBy: ['set labels on nodes, change the selector, or add tolerations to the template'],
    });
  }
  if (numberMisscheduled > 0)
    findings.push({
      cause: 'misscheduled',
      severity: 'note',
      summary: `its pods run on ${counted(numberMisscheduled, 'node')} that should have none`,
      unblockedBy: ['the DaemonSet controller deletes them'],
    });
  return findings;
}

function updateFindings({ spec, status }: DeepReadonly<DaemonSet>): DiagnosisFinding[] {
  const { currentNumberScheduled = 0, updatedNumberScheduled = 0 } = status ?? {};
  const old = currentNumberScheduled - updatedNumberScheduled;
  if (old <= 0) return [];
  if (spec.updateStrategy?.type === 'OnDelete')
    return [
      {
        cause: 'on-delete',
        severity: 'note',
        summary: `${counted(old, 'pod')} of an older template stay until they are deleted (updateStrategy OnDelete)`,
        unblockedBy: ['kubectl delete pod, one after the other'],
      },
    ];
  const { maxUnavailable = 1 } = spec.updateStrategy?.rollingUpdate ?? {};
  return [
    {
      cause: 'max-unavailable',
      severity: 'waits',
      summary: `${countIs(old, 'pod')} left of the older template; at most ${maxUnavailable} may be unavailable (maxUnavailable)`,
      unblockedBy: ['new pods becoming available', 'or set a larger maxUnavailable'],
    },
  ];
}
