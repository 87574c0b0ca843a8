import { counted } from '@rollkeeper/machinery/text';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  Service,
  StatefulSet,
  StorageClass,
} from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Event, Node, Pod, isPodReady, isPodTerminating } from '@rollkeeper/machinery/kubernetes';
import { REVISION_LABEL } from '@rollkeeper/controllers/shared';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import {
  creationFindings,
  deletionFindings,
  findingsOfPods,
  podsOf,
  unobservedFindings,
  warningsAbout,
} from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';
import { claimFindingsOf } from './claim.js';
import { isUnderPolicies, statefulSetRolloutFindings } from './set-rollout-findings.js';

type ReadableSet = DeepReadonly<StatefulSet>;
type ReadablePod = DeepReadonly<Pod>;

/** StatefulSets: pods, their order, their claims. */
export const statefulSetDiagnosis: KindDiagnosis<StatefulSet> = {
  type: StatefulSet,
  aliases: ['sts'],
  needs: (namespace) => [
    ...inNamespace([Pod, Event, PersistentVolumeClaim, Service], namespace),
    { type: Node },
    { type: StorageClass },
    { type: PersistentVolume },
  ],
  judge,
};

function judge(set: ReadableSet, snapshot: Snapshot, nowMs: number): Verdict {
  const wanted = set.spec.replicas ?? 1;
  const pods = podsOf(snapshot, set);
  const ready = pods.filter((pod) => isPodReady(pod)).length;
  const deletion = deletionFindings(set, `its ${counted(pods.length, 'pod')}`);
  if (deletion.length > 0) return { ...healthy(wanted), findings: deletion, bad: 'deleting' };
  const short = pods.length < wanted;
  const trouble = findingsOfPods(pods, { snapshot, nowMs, minReadySeconds: set.spec.minReadySeconds });
  const findings = [
    ...unobservedFindings(set, set.status?.observedGeneration, 'StatefulSet', nowMs),
    ...(short ? creationFindings(warningsAbout(snapshot, set, nowMs)) : []),
    ...statefulSetRolloutFindings(set, nowMs),
    ...(isUnderPolicies(set) ? [] : forcedRollback(set, pods)),
    ...claimFindingsOf(pods, snapshot, nowMs),
    ...trouble,
    ...orderFindings(set, pods, wanted),
    ...(isUnderPolicies(set) ? [] : revisionFindings(set, pods)),
    ...serviceFinding(set, snapshot),
  ];
  return {
    ...healthy(wanted),
    findings: settled(findings, ready >= wanted && pods.length <= wanted),
    progress: `${ready} of ${counted(wanted, 'pod')} ready`,
    ...(ready > 0 && ready < wanted && !isUpdating(set) && { bad: 'degraded' as const }),
  };
}

function healthy(wanted: number): Pick<Verdict, 'good'> {
  if (wanted === 0) return { good: { state: 'scaled-to-zero', sentence: 'no pods are requested' } };
  return { good: { state: 'complete', sentence: `${counted(wanted, 'pod')} ready` } };
}

/** With all its pods ready nothing is in the way. */
function settled(findings: readonly DiagnosisFinding[], isWhole: boolean): readonly DiagnosisFinding[] {
  return isWhole
    ? findings.map((finding) => (finding.cause === 'starting' ? { ...finding, severity: 'note' } : finding))
    : findings;
}

function isUpdating({ status }: ReadableSet): boolean {
  return status?.updateRevision !== undefined && status.updateRevision !== status.currentRevision;
}

/**
 * A template that was put right does not help a pod of the broken revision where pods go in order: the controller waits
 * for that pod to become ready before it replaces it (kubernetes/kubernetes#67250).
 */
function forcedRollback(set: ReadableSet, pods: readonly ReadablePod[]): DiagnosisFinding[] {
  const { podManagementPolicy = 'OrderedReady', updateStrategy } = set.spec;
  if (podManagementPolicy === 'Parallel' || updateStrategy?.type === 'OnDelete') return [];
  const { currentRevision, updateRevision } = set.status ?? {};
  if (updateRevision === undefined || !isUpdating(set)) return [];
  const stuck = pods.find(
    (pod) =>
      !isPodReady(pod) &&
      !isPodTerminating(pod) &&
      pod.metadata.labels?.[REVISION_LABEL] !== updateRevision &&
      pod.metadata.labels?.[REVISION_LABEL] !== currentRevision,
  );
  if (!stuck) return [];
  const { name, namespace = 'default' } = stuck.metadata;
  return [
    {
      cause: 'ordered-update-waits',
      severity: 'blocked',
      summary: `pod ${name} is of a revision between the old and the new one and not ready; pods are replaced in order, so it is not replaced before it is ready`,
      objects: [{ kind: 'Pod', namespace, name }],
      unblockedBy: [`kubectl delete pod ${name} -n ${namespace}: it is recreated from the new template`],
    },
  ];
}

function orderFindings(
  { metadata, spec }: ReadableSet,
  pods: readonly ReadablePod[],
  wanted: number,
): DiagnosisFinding[] {
  if ((spec.podManagementPolicy ?? 'OrderedReady') === 'Parallel' || pods.length >= wanted) return [];
  const waitedFor = pods.toSorted(byOrdinal).find((pod) => !isPodReady(pod));
  if (!waitedFor) return [];
  const next = `${metadata.name}-${(spec.ordinals?.start ?? 0) + pods.length}`;
  return [
    {
      cause: 'ordered-ready',
      severity: 'waits',
      summary: `pod ${next} is created once ${waitedFor.metadata.name} is ready (podManagementPolicy OrderedReady)`,
      unblockedBy: [`pod ${waitedFor.metadata.name} becoming ready`],
    },
  ];
}

function revisionFindings({ spec, status }: ReadableSet, pods: readonly ReadablePod[]): DiagnosisFinding[] {
  const { updateRevision } = status ?? {};
  const old = pods.filter(({ metadata }) => metadata.labels?.[REVISION_LABEL] !== updateRevision);
  if (updateRevision === undefined || old.length === 0) return [];
  if (spec.updateStrategy?.type === 'OnDelete')
    return [
      {
        cause: 'on-delete',
        severity: 'note',
        summary: `${counted(old.length, 'pod')} of an older template stay until they are deleted (updateStrategy OnDelete)`,
        unblockedBy: ['kubectl delete pod, one after the other'],
      },
    ];
  const { partition = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  const held = old.filter((pod) => ordinalOf(pod) < partition);
  if (held.length === 0 || held.length < old.length) return [];
  return [
    {
      cause: 'partition',
      severity: 'note',
      summary: `${counted(held.length, 'pod')} with an ordinal below ${partition} keep the older template (partition)`,
      unblockedBy: ['set a smaller spec.updateStrategy.rollingUpdate.partition'],
    },
  ];
}

function serviceFinding({ metadata, spec }: ReadableSet, snapshot: Snapshot): DiagnosisFinding[] {
  const { serviceName } = spec;
  if (serviceName === undefined || serviceName === '' || !snapshot.isKnown(Service, metadata.namespace))
    return [];
  const services = snapshot.list<Service>(Service, metadata.namespace);
  if (services.some((service) => service.metadata.name === serviceName)) return [];
  return [
    {
      cause: 'service-missing',
      severity: 'note',
      summary: `there is no Service ${serviceName}, so its pods have no names in DNS`,
      unblockedBy: [`create a headless Service ${serviceName} (clusterIP: None)`],
    },
  ];
}

function ordinalOf({ metadata }: ReadablePod): number {
  return Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? 0);
}

function byOrdinal(a: ReadablePod, b: ReadablePod): number {
  return ordinalOf(a) - ordinalOf(b);
}
