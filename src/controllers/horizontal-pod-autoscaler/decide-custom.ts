import { isPodReady } from '@rollkeeper/machinery/kubernetes';
import type { CustomMetric, CustomReading } from './custom-metric.js';
import type { Problem, ScaleFacts, Tolerance } from './decide-replicas.js';
import { decideReplicas, isProblem } from './decide-replicas.js';

export type CustomFacts = Omit<ScaleFacts, 'samples'> & {
  /** `status.replicas` of the scale. */
  readonly statusReplicas: number;
};

interface CustomProposal {
  readonly replicas: number;
  /** The measurement: of each pod, or of the whole; thousandths. */
  readonly milli: number;
}

/**
 * The number of pods for a metric of type `Pods`, `Object` or `External`. Source: `GetMetricReplicas`, `GetObjectMetricReplicas`,
 * `GetExternalMetricReplicas` and those per pod in k/k pkg/controller/podautoscaler.
 */
export function decideCustomReplicas(
  { target }: CustomMetric,
  reading: CustomReading,
  facts: CustomFacts,
): CustomProposal | Problem {
  if ('samples' in reading) {
    if (!('averageMilli' in target))
      return { problem: 'a metric of pods has an average value as its target' };
    // No pod of a resource without a name is taken to be starting.
    const outcome = decideReplicas({ resource: '', target }, { ...facts, samples: reading.samples });
    return isProblem(outcome) ? outcome : { replicas: outcome.replicas, milli: outcome.current.averageMilli };
  }
  const { milli } = reading;
  return 'averageMilli' in target
    ? perPod(milli, target.averageMilli, facts)
    : ofTheWhole(milli, milli / target.valueMilli, facts);
}

function perPod(
  milli: number,
  averageMilli: number,
  { statusReplicas, tolerance }: CustomFacts,
): CustomProposal {
  const isKept = isTolerable(milli / (averageMilli * statusReplicas), tolerance);
  return {
    replicas: isKept ? statusReplicas : Math.ceil(milli / averageMilli),
    milli: statusReplicas === 0 ? 0 : Math.ceil(milli / statusReplicas),
  };
}

function ofTheWhole(
  milli: number,
  ratio: number,
  { currentReplicas, pods, tolerance }: CustomFacts,
): CustomProposal | Problem {
  if (currentReplicas === 0) return { replicas: Math.ceil(ratio), milli };
  if (isTolerable(ratio, tolerance)) return { replicas: currentReplicas, milli };
  if (pods.length === 0)
    return {
      problem: 'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    };
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod)).length;
  return { replicas: Math.ceil(ratio * ready), milli };
}

function isTolerable(ratio: number, { down, up }: Tolerance): boolean {
  return ratio >= 1 - down && ratio <= 1 + up;
}
