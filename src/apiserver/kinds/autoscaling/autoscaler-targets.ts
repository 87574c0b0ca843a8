import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '@rollkeeper/machinery/types/autoscaling-v2';

const UNKNOWN = '<unknown>';
const MAX_SHOWN = 2;

/** `cpu: 20%/80%`. Source: formatHPAMetrics in pkg/printers/internalversion/printers.go. */
export function targetsText({ spec, status }: Readonly<DecodedObject<HorizontalPodAutoscaler>>): string {
  const metrics = spec?.metrics ?? [];
  if (metrics.length === 0) return '<none>';
  const texts = metrics.map((metric, index) => metricText(metric, status?.currentMetrics?.[index]));
  const shown = texts.slice(0, MAX_SHOWN).join(', ');
  return texts.length > MAX_SHOWN ? `${shown} + ${texts.length - MAX_SHOWN} more...` : shown;
}

function metricText(metric: Decoded<MetricSpec>, current: Decoded<MetricStatus> | undefined): string {
  switch (metric.type) {
    case 'Resource':
      return `${metric.resource?.name ?? ''}: ${pair(metric.resource?.target, current?.resource?.current)}`;
    case 'ContainerResource':
      return `${metric.containerResource?.name ?? ''}: ${pair(metric.containerResource?.target, current?.containerResource?.current)}`;
    case 'Pods':
      return pair(metric.pods?.target, current?.pods?.current);
    case 'Object':
      return shared(metric.object?.target, current?.object?.current);
    case 'External':
      return shared(metric.external?.target, current?.external?.current);
    default:
      return '<unknown type>';
  }
}

function pair(
  target: Decoded<MetricTarget> | undefined,
  current: Decoded<MetricValueStatus> | undefined,
): string {
  if (target?.averageUtilization !== undefined) {
    const share = current?.averageUtilization;
    return `${share === undefined ? UNKNOWN : `${share}%`}/${target.averageUtilization}%`;
  }
  if (target?.averageValue !== undefined)
    return `${String(current?.averageValue ?? UNKNOWN)}/${String(target.averageValue)}`;
  return `${String(current?.value ?? UNKNOWN)}/${String(target?.value ?? '<auto>')}`;
}

/** Prints a metric that does not belong to each pod; an average says so. */
function shared(...[target, current]: Parameters<typeof pair>): string {
  return target?.averageValue === undefined ? pair(target, current) : `${pair(target, current)} (avg)`;
}
