import { PersistentVolumeClaim, PersistentVolume, StorageClass } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Event, Node, Pod, isPodFinished, isPodReady } from '@rollkeeper/machinery/kubernetes';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import { deletionFindings, findingsOfPods, warningsAbout } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';
import { claimFindingsOf } from './claim.js';

type ReadablePod = DeepReadonly<Pod>;

/** Warnings that say more than the status does. */
const TELLING =
  /^(FailedMount|FailedAttachVolume|FailedCreatePodSandBox|Unhealthy|Evicted|Preempted|OOMKilling)$/;

/** Pods that are on a node, or have ended. Why one is on no node is the scheduler's to say. */
export const podDiagnosis: KindDiagnosis<Pod> = {
  type: Pod,
  aliases: ['po'],
  needs: (namespace) => [
    ...inNamespace([Event, PersistentVolumeClaim], namespace),
    { type: Node },
    { type: StorageClass },
    { type: PersistentVolume },
  ],
  judge(pod, snapshot, nowMs): Verdict {
    const on = pod.spec.nodeName === undefined ? '' : ` on node ${pod.spec.nodeName}`;
    const good = goodOf(pod, on);
    const deletion = deletionFindings(pod);
    const trouble = findingsOfPods([pod], { snapshot, nowMs });
    if (deletion.length > 0) return { findings: [...trouble, ...deletion], good, bad: 'deleting' };
    if (isPodFinished(pod)) return { findings: [...failureFindings(pod), ...trouble], good };
    if (isPodReady(pod)) return { findings: restartNote(pod), good };
    return {
      good,
      findings: [...trouble, ...claimFindingsOf([pod], snapshot, nowMs), ...warnings(pod, snapshot, nowMs)],
    };
  },
};

function goodOf({ status }: ReadablePod, on: string): Verdict['good'] {
  if (status?.phase === 'Succeeded') return { state: 'complete', sentence: `it succeeded${on}` };
  return { state: 'healthy', sentence: `it is ready${on}` };
}

/** How a pod that will not run again ended. */
function failureFindings({ status }: ReadablePod): DiagnosisFinding[] {
  if (status?.phase !== 'Failed') return [];
  const ends = (status.containerStatuses ?? []).flatMap(({ name, state }) => {
    const { exitCode, reason } = state?.terminated ?? {};
    if (exitCode === undefined || exitCode === 0) return [];
    return [`container ${name} ended with code ${exitCode}${reason === undefined ? '' : ` (${reason})`}`];
  });
  const said = [status.reason, status.message].filter((text) => text !== undefined && text !== '').join(': ');
  return [
    {
      cause: 'crash-loop',
      severity: 'blocked',
      summary: `it failed: ${[said, ...ends].filter((text) => text !== '').join('; ') || 'no reason given'}`,
      unblockedBy: ['see its logs with kubectl logs; its owner, if it has one, creates another pod'],
    },
  ];
}

function restartNote({ status }: ReadablePod): DiagnosisFinding[] {
  return (status?.containerStatuses ?? []).flatMap(
    ({ lastState, name, restartCount = 0 }): DiagnosisFinding[] => {
      const { exitCode, finishedAt, reason } = lastState?.terminated ?? {};
      if (restartCount === 0) return [];
      const end = exitCode === undefined ? '' : `, last with code ${exitCode}${reason ? ` (${reason})` : ''}`;
      return [
        {
          cause: 'crash-loop',
          severity: 'note',
          summary: `container ${name} was restarted ${restartCount} times${end}`,
          ...(finishedAt !== undefined && { since: finishedAt }),
          unblockedBy:
            reason === 'OOMKilled'
              ? ['set a larger memory limit, or reduce the memory usage']
              : ['see kubectl logs --previous for the cause'],
        },
      ];
    },
  );
}

function warnings(pod: ReadablePod, snapshot: Snapshot, nowMs: number): DiagnosisFinding[] {
  return warningsAbout(snapshot, pod, nowMs)
    .filter(({ reason }) => TELLING.test(reason))
    .map(({ message, reason, since }) => ({
      cause: 'not-ready',
      severity: 'note',
      summary: `${reason}: ${message}`,
      ...(since !== undefined && { since }),
      unblockedBy: [],
    }));
}
