import type { HorizontalPodAutoscaler as IAutoscalerV1 } from '@rollkeeper/machinery/types/autoscaling-v1';
import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
} from '@rollkeeper/machinery/types/autoscaling-v2';
import { objectOfKind, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Decoded, DecodedObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

/** The annotation in which the first version keeps what it has no fields for. */
const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const CURRENT_METRICS = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';

type V1 = DecodedObject<IAutoscalerV1>;
type V2 = DecodedObject<HorizontalPodAutoscaler>;

const isCpuShare = ({ type, resource }: Decoded<MetricSpec>): boolean =>
  type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined;

/** The newer form. Source: pkg/apis/autoscaling/v1/conversion.go. */
export function toV2(object: Readonly<UnstructuredObject>): V2 {
  const { metadata, spec, status, ...rest }: V1 = object;
  const { annotations, ...meta } = metadata;
  const { targetCPUUtilizationPercentage: share, ...ownSpec } = spec ?? {};
  const { currentCPUUtilizationPercentage: current, ...ownStatus } = status ?? {};
  const kept = { ...annotations };
  const take = (key: string): unknown => {
    const text = kept[key];
    delete kept[key];
    return text === undefined ? undefined : parsed(text);
  };
  const metrics: unknown[] = [
    ...(share === undefined
      ? []
      : [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: share } },
          },
        ]),
    ...list(take(METRICS)),
  ];
  const currentMetrics = [
    ...(current === undefined
      ? []
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }]),
    ...list(take(CURRENT_METRICS)),
  ];
  const conditions = list(take(CONDITIONS));
  const behavior = take(BEHAVIOR);
  return objectOfKind({
    ...rest,
    apiVersion: 'autoscaling/v2',
    metadata: { ...meta, ...(Object.keys(kept).length > 0 && { annotations: kept }) },
    ...(spec && {
      spec: {
        ...ownSpec,
        ...(metrics.length > 0 && { metrics }),
        ...(behavior !== undefined && { behavior }),
      },
    }),
    ...(status && {
      status: {
        ...ownStatus,
        ...(currentMetrics.length > 0 && { currentMetrics }),
        ...(conditions.length > 0 && { conditions }),
      },
    }),
  });
}

/** The older form. */
export function fromV2({ metadata, spec, status, ...rest }: Readonly<V2>): UnstructuredObject {
  const { metrics = [], behavior, ...ownSpec } = spec ?? {};
  const { currentMetrics: current, conditions = [], ...ownStatus } = status ?? {};
  // As stored, an empty list is null.
  const currentMetrics = current ?? [];
  const shareAt = metrics.findIndex(isCpuShare);
  const currentAt = currentMetrics.findIndex(
    ({ resource }: Decoded<MetricStatus>) =>
      resource?.name === 'cpu' && resource.current?.averageUtilization !== undefined,
  );
  const annotations: Record<string, string> = { ...metadata.annotations };
  const put = (key: string, value: unknown, isEmpty: boolean): void => {
    if (!isEmpty) annotations[key] = stringifyJson(value);
  };
  const others = metrics.filter((_metric, index) => index !== shareAt);
  const otherCurrent = currentMetrics.filter((_metric, index) => index !== currentAt);
  put(METRICS, others, others.length === 0);
  put(CURRENT_METRICS, otherCurrent, otherCurrent.length === 0);
  put(CONDITIONS, conditions, conditions.length === 0);
  put(BEHAVIOR, behavior, behavior === undefined);
  return {
    ...rest,
    apiVersion: 'autoscaling/v1',
    metadata: { ...metadata, ...(Object.keys(annotations).length > 0 && { annotations }) },
    ...(spec && {
      spec: {
        ...ownSpec,
        ...(shareAt >= 0 && {
          targetCPUUtilizationPercentage: metrics[shareAt]?.resource?.target?.averageUtilization,
        }),
      },
    }),
    ...(status && {
      status: {
        currentReplicas: 0,
        ...ownStatus,
        ...(currentAt >= 0 && {
          currentCPUUtilizationPercentage: currentMetrics[currentAt]?.resource?.current?.averageUtilization,
        }),
      },
    }),
  };
}

/** An annotation may contain any text. */
function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
