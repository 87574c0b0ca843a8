import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type { HPAScalingRules, HorizontalPodAutoscaler } from '@rollkeeper/machinery/types/autoscaling-v2';

/** Default target utilization of a pod's CPU, in percent. */
export const DEFAULT_CPU_UTILIZATION = 80;

/** Source: SetDefaults_HorizontalPodAutoscaler in pkg/apis/autoscaling/v2/defaults.go. */
export function defaultAutoscaler(object: DecodedObject<HorizontalPodAutoscaler>): void {
  const spec = (object.spec ??= {});
  spec.minReplicas ??= 1;
  if (!spec.metrics?.length)
    spec.metrics = [
      {
        type: 'Resource',
        resource: {
          name: 'cpu',
          target: { type: 'Utilization', averageUtilization: DEFAULT_CPU_UTILIZATION },
        },
      },
    ];
  const { behavior } = spec;
  if (!behavior) return;
  behavior.scaleUp = completed(behavior.scaleUp, {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  });
  behavior.scaleDown = completed(behavior.scaleDown, {
    selectPolicy: 'Max',
    policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  });
}

function completed(
  rules: Decoded<HPAScalingRules> | undefined,
  defaults: Decoded<HPAScalingRules>,
): Decoded<HPAScalingRules> {
  return { ...defaults, ...rules, ...(!rules?.policies?.length && { policies: defaults.policies }) };
}
