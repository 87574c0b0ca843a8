import { counted } from '@rollkeeper/machinery/text';
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import {
  CLAIM_PROTECTION,
  DEFAULT_STORAGE_CLASS,
  Event,
  Pod,
  claimNamesOf,
  isPodFinished,
  newestDefault,
  storageClassNameOf,
} from '@rollkeeper/machinery/kubernetes';
import { describeReason } from '@rollkeeper/controllers/shared';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import { deletionFindings, listed, warningsAbout } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';

type ReadableClaim = DeepReadonly<PersistentVolumeClaim>;

/** PersistentVolumeClaims: why one is not bound, cannot grow, or cannot go. */
export const claimDiagnosis: KindDiagnosis<PersistentVolumeClaim> = {
  type: PersistentVolumeClaim,
  aliases: ['pvc'],
  needs: (namespace) => [
    ...inNamespace([Pod, Event], namespace),
    { type: StorageClass },
    { type: PersistentVolume },
  ],
  judge(claim, snapshot, nowMs): Verdict {
    const storageClassName = storageClassNameOf(claim);
    const good = {
      state: 'healthy',
      sentence: `bound to ${claim.spec.volumeName ?? 'its volume'}${storageClassName === undefined ? '' : ` (class ${storageClassName})`}`,
    } as const;
    const deletion = deletionOf(claim, snapshot);
    if (deletion.length > 0) return { findings: deletion, good, bad: 'deleting' };
    return { findings: findingsOf(claim, snapshot, nowMs), good };
  },
};

/** The findings that keep the claims of pods from being bound. */
export function claimFindingsOf(
  pods: readonly DeepReadonly<Pod>[],
  snapshot: Snapshot,
  nowMs: number,
): DiagnosisFinding[] {
  const [first] = pods;
  const names = new Set(pods.flatMap(claimNamesOf));
  if (!first || names.size === 0) return [];
  return snapshot
    .list<PersistentVolumeClaim>(PersistentVolumeClaim, first.metadata.namespace)
    .filter(({ metadata, status }) => names.has(metadata.name) && status?.phase !== 'Bound')
    .flatMap((claim) => findingsOf(claim, snapshot, nowMs));
}

function findingsOf(claim: ReadableClaim, snapshot: Snapshot, nowMs: number): DiagnosisFinding[] {
  const { name } = claim.metadata;
  if (claim.status?.phase === 'Lost')
    return [
      {
        cause: 'claim-lost',
        severity: 'blocked',
        summary: `claim ${name} lost its volume ${claim.spec.volumeName ?? ''}: that PersistentVolume no longer exists, and its data is lost`,
        unblockedBy: ['restore a backup: delete the claim and its pod, and restore into a new claim'],
      },
    ];
  if (claim.status?.phase !== 'Bound') return [pendingFinding(claim, snapshot, nowMs)];
  return resizeFindings(claim);
}

function pendingFinding(claim: ReadableClaim, snapshot: Snapshot, nowMs: number): DiagnosisFinding {
  const { creationTimestamp, name, namespace } = claim.metadata;
  const { cause, remedies, severity } = whyPending(claim, snapshot, nowMs);
  return {
    cause: 'claim-pending',
    severity,
    summary: `claim ${name} is not bound: ${cause}`,
    ...(creationTimestamp !== undefined && { since: creationTimestamp }),
    objects: [{ kind: 'PersistentVolumeClaim', name, ...(namespace !== undefined && { namespace }) }],
    unblockedBy: remedies,
  };
}

interface Why {
  readonly cause: string;
  readonly severity: 'blocked' | 'waits';
  readonly remedies: readonly string[];
}

function whyPending(claim: ReadableClaim, snapshot: Snapshot, nowMs: number): Why {
  const { volumeName } = claim.spec;
  const storageClassName = storageClassNameOf(claim);
  const classes = snapshot.list<StorageClass>(StorageClass);
  const knowsClasses = snapshot.isKnown(StorageClass);
  if (volumeName !== undefined && volumeName !== '') return whyNotThatVolume(volumeName, snapshot);
  const warning = warningsAbout(snapshot, claim, nowMs).find(({ reason }) => reason !== 'FailedBinding');
  const named = classes.find(({ metadata }) => metadata.name === storageClassName);
  if (storageClassName !== undefined && storageClassName !== '' && !named && knowsClasses)
    return {
      severity: 'blocked',
      cause: `there is no StorageClass ${storageClassName}`,
      remedies: [
        `create a StorageClass ${storageClassName}, or use a claim of one that exists: ${namesOf(classes)}`,
      ],
    };
  if (storageClassName === undefined && knowsClasses && newestDefault(classes) === undefined)
    return {
      severity: 'blocked',
      cause: 'it names no StorageClass, and there is no default',
      remedies: [
        `mark a default StorageClass (annotation ${DEFAULT_STORAGE_CLASS}: "true"), or set storageClassName in the claim: ${namesOf(classes)}`,
      ],
    };
  if (warning)
    return {
      severity: 'blocked',
      cause: describeReason(warning),
      remedies: [
        `check the provisioner ${named?.provisioner ?? 'of its class'}: its logs, its quota and its credentials`,
      ],
    };
  if (storageClassName === '')
    return {
      severity: 'blocked',
      cause: 'no free PersistentVolume without a class fits it',
      remedies: ['create a PersistentVolume of its size and access mode'],
    };
  if (named?.volumeBindingMode === 'WaitForFirstConsumer' && usersOf(claim, snapshot).length === 0)
    return {
      severity: 'waits',
      cause: `its class ${named.metadata.name} binds when a pod uses it (WaitForFirstConsumer), and none does`,
      remedies: ['create a pod that uses it'],
    };
  return {
    severity: 'waits',
    cause: `the provisioner ${named?.provisioner ?? 'of its class'} has not created a volume yet`,
    remedies: [
      `check that the provisioner ${named?.provisioner ?? 'of its class'} runs`,
      'or, if the class waits for a pod, make that pod schedulable: rollkeeper explain pod',
    ],
  };
}

function whyNotThatVolume(volumeName: string, snapshot: Snapshot): Why {
  const volume = snapshot
    .list<PersistentVolume>(PersistentVolume)
    .find(({ metadata }) => metadata.name === volumeName);
  if (!volume && snapshot.isKnown(PersistentVolume))
    return {
      severity: 'blocked',
      cause: `there is no PersistentVolume ${volumeName}, which it names`,
      remedies: [`create a PersistentVolume ${volumeName}`],
    };
  const { claimRef } = volume?.spec ?? {};
  const other = claimRef ? `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}` : undefined;
  return {
    severity: 'waits',
    cause: `PersistentVolume ${volumeName} is ${volume?.status?.phase ?? 'not seen'}${other === undefined ? '' : ` and reserved for ${other}`}`,
    remedies: [`free PersistentVolume ${volumeName}: kubectl describe pv ${volumeName}`],
  };
}

function resizeFindings({ metadata, status }: ReadableClaim): DiagnosisFinding[] {
  const condition = status?.conditions?.find(
    ({ status: value, type }) =>
      value === 'True' &&
      ['Resizing', 'FileSystemResizePending', 'ControllerResizeError', 'NodeResizeError'].includes(type),
  );
  if (!condition) return [];
  const isError = /Error$/.test(condition.type);
  return [
    {
      cause: 'claim-resizing',
      severity: isError ? 'blocked' : 'waits',
      summary: `claim ${metadata.name} is being resized (${condition.type})${condition.message ? `: ${condition.message}` : ''}`,
      ...(condition.lastTransitionTime !== undefined && { since: condition.lastTransitionTime }),
      unblockedBy:
        condition.type === 'FileSystemResizePending'
          ? ['start a pod that uses it']
          : ["see the logs of the resizer of the volume's driver"],
    },
  ];
}

function deletionOf(claim: ReadableClaim, snapshot: Snapshot): DiagnosisFinding[] {
  const users = usersOf(claim, snapshot);
  const { deletionTimestamp: since, finalizers = [], namespace } = claim.metadata;
  if (since === undefined || !finalizers.includes(CLAIM_PROTECTION) || users.length === 0)
    return deletionFindings(claim);
  const names = users.map(({ metadata }) => metadata.name);
  return [
    {
      cause: 'claim-in-use',
      severity: 'blocked',
      summary: `it is being deleted, and ${counted(users.length, 'pod')} use it: ${listed(names)}`,
      since,
      objects: names.map((name) => ({
        kind: 'Pod',
        name,
        ...(namespace !== undefined && { namespace }),
      })),
      unblockedBy: ['those pods ending: scale their owner down, or delete it'],
    },
  ];
}

function usersOf({ metadata }: ReadableClaim, snapshot: Snapshot): readonly DeepReadonly<Pod>[] {
  return snapshot
    .list<Pod>(Pod, metadata.namespace)
    .filter((pod) => !isPodFinished(pod) && claimNamesOf(pod).includes(metadata.name));
}

function namesOf(classes: readonly DeepReadonly<StorageClass>[]): string {
  return classes.length === 0 ? 'there are none' : listed(classes.map(({ metadata }) => metadata.name));
}
