import {
  HorizontalPodAutoscaler,
  ReplicationController,
  Deployment,
  ReplicaSet,
  StatefulSet,
} from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import type { DiagnosisFinding, Verdict } from '../diagnosis.js';
import { deletionFindings, listed } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';

type ReadableAutoscaler = DeepReadonly<HorizontalPodAutoscaler>;
type AutoscalerCondition = NonNullable<NonNullable<ReadableAutoscaler['status']>['conditions']>[number];

const TARGETS = [Deployment, StatefulSet, ReplicaSet, ReplicationController];

/** HorizontalPodAutoscalers: whether it can measure and scale, and whether it would like to go further than it may. */
export const autoscalerDiagnosis: KindDiagnosis<HorizontalPodAutoscaler> = {
  type: HorizontalPodAutoscaler,
  aliases: ['hpa'],
  needs: (namespace) => inNamespace([HorizontalPodAutoscaler, ...TARGETS], namespace),
  judge(autoscaler, snapshot): Verdict {
    const { maxReplicas, minReplicas = 1, scaleTargetRef } = autoscaler.spec;
    const { currentReplicas = 0, desiredReplicas = 0 } = autoscaler.status ?? {};
    const target = `${scaleTargetRef.kind} ${scaleTargetRef.name}`;
    const range = `${minReplicas} to ${maxReplicas}`;
    const good = {
      state: 'healthy',
      sentence: `${target} has ${currentReplicas} replicas and should have ${desiredReplicas} (${range})`,
    } as const;
    const deletion = deletionFindings(autoscaler);
    if (deletion.length > 0) return { findings: deletion, good, bad: 'deleting' };
    const disabled = disabledFinding(autoscaler);
    if (disabled) return { findings: [disabled], good, bad: 'paused' };
    return {
      good,
      findings: [
        ...targetFindings(autoscaler, snapshot),
        ...conditionFindings(autoscaler),
        ...limitFindings(autoscaler),
        ...rivalFindings(autoscaler, snapshot),
      ],
    };
  },
};

function conditionOf({ status }: ReadableAutoscaler, type: string): AutoscalerCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

function sinceOf(condition: AutoscalerCondition | undefined): { since?: string } {
  return condition?.lastTransitionTime === undefined ? {} : { since: condition.lastTransitionTime };
}

function disabledFinding(autoscaler: ReadableAutoscaler): DiagnosisFinding | undefined {
  const active = conditionOf(autoscaler, 'ScalingActive');
  if (active?.reason !== 'ScalingDisabled') return undefined;
  return {
    cause: 'autoscaler-disabled',
    severity: 'blocked',
    summary: 'its target is scaled to 0, which disables autoscaling',
    ...sinceOf(active),
    unblockedBy: ['run kubectl scale --replicas 1 for the target; the autoscaler continues from there'],
  };
}

function targetFindings({ metadata, spec }: ReadableAutoscaler, snapshot: Snapshot): DiagnosisFinding[] {
  const { kind, name = '' } = spec.scaleTargetRef;
  const type = TARGETS.find((target) => target.kind === kind);
  if (!type || !snapshot.isKnown(type, metadata.namespace)) return [];
  if (snapshot.list(type, metadata.namespace).some((object) => object.metadata.name === name)) return [];
  return [
    {
      cause: 'autoscaler-target',
      severity: 'blocked',
      summary: `there is no ${kind} ${name} to scale`,
      unblockedBy: [`create a ${kind} ${name}, or set another spec.scaleTargetRef`],
    },
  ];
}

function conditionFindings(autoscaler: ReadableAutoscaler): DiagnosisFinding[] {
  const able = conditionOf(autoscaler, 'AbleToScale');
  const active = conditionOf(autoscaler, 'ScalingActive');
  const findings: DiagnosisFinding[] = [];
  if (able?.status === 'False')
    findings.push({
      cause: 'autoscaler-target',
      severity: 'blocked',
      summary: `it cannot scale its target: ${able.reason ?? ''} (${able.message ?? ''})`,
      ...sinceOf(able),
      unblockedBy: ['use a target with a scale subresource that the controller may read and write'],
    });
  if (active?.status === 'False')
    findings.push({
      cause: 'autoscaler-without-metrics',
      severity: 'blocked',
      summary: `it has no metrics: ${active.reason ?? ''} (${active.message ?? ''})`,
      ...sinceOf(active),
      unblockedBy: remediesFor(active),
    });
  return findings;
}

function remediesFor({ message = '', reason = '' }: AutoscalerCondition): readonly string[] {
  if (/missing request for/i.test(message))
    return ['set resources.requests for each container of the pods: a utilization is a share of the request'];
  if (/Resource/.test(reason))
    return [
      'check the resource metrics API: kubectl get apiservice v1beta1.metrics.k8s.io, and metrics-server',
      'and check that pods run: without one there is nothing to measure',
    ];
  if (/External/.test(reason))
    return ['install an adapter that serves external.metrics.k8s.io for that metric'];
  if (/Pods|Object/.test(reason))
    return ['install an adapter that serves custom.metrics.k8s.io for that metric'];
  return ['use a metric source in spec.metrics that can be read'];
}

function limitFindings(autoscaler: ReadableAutoscaler): DiagnosisFinding[] {
  const limited = conditionOf(autoscaler, 'ScalingLimited');
  if (limited?.status !== 'True') return [];
  const { maxReplicas, minReplicas = 1 } = autoscaler.spec;
  const isMax = limited.reason === 'TooManyReplicas';
  const isMin = limited.reason === 'TooFewReplicas';
  if (isMin)
    return [
      {
        cause: 'autoscaler-at-limit',
        severity: 'note',
        summary: `it wants fewer replicas than minReplicas ${minReplicas}`,
        ...sinceOf(limited),
        unblockedBy: ['set a smaller spec.minReplicas, if that is safe'],
      },
    ];
  return [
    {
      cause: 'autoscaler-at-limit',
      severity: isMax ? 'blocked' : 'waits',
      summary: isMax
        ? `it wants more replicas than maxReplicas ${maxReplicas}`
        : `its scaling is limited: ${limited.message ?? limited.reason ?? ''}`,
      ...sinceOf(limited),
      unblockedBy: isMax
        ? ['set a larger spec.maxReplicas, if the cluster has room', 'or give each pod more capacity']
        : ['wait', 'or change the rules in spec.behavior'],
    },
  ];
}

function rivalFindings({ metadata, spec }: ReadableAutoscaler, snapshot: Snapshot): DiagnosisFinding[] {
  const rivals = snapshot
    .list<HorizontalPodAutoscaler>(HorizontalPodAutoscaler, metadata.namespace)
    .filter(
      (other) =>
        other.metadata.name !== metadata.name &&
        other.spec.scaleTargetRef.kind === spec.scaleTargetRef.kind &&
        other.spec.scaleTargetRef.name === spec.scaleTargetRef.name,
    );
  if (rivals.length === 0) return [];
  return [
    {
      cause: 'autoscaler-overlap',
      severity: 'blocked',
      summary: `${listed(rivals.map((rival) => rival.metadata.name))} and it scale the same object`,
      unblockedBy: ['use one autoscaler for each target: put the metrics into one of them'],
    },
  ];
}
