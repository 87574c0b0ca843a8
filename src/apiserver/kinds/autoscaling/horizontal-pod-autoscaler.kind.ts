import type { HorizontalPodAutoscaler as IAutoscalerV1 } from '@rollkeeper/machinery/types/autoscaling-v1';
import type {
  HorizontalPodAutoscaler,
  HPAScalingRules,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '@rollkeeper/machinery/types/autoscaling-v2';
import { unstructured } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject, UnstructuredObject, Decoded } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { KindRules } from '../define-kind.js';
import type { FieldError, Subresource } from '../kind-definition.js';
import { validateNonNegative } from '../validation/numbers.js';
import { validateAutoscalerSpec } from './autoscaler.validation.js';
import { fromV2, toV2 } from './autoscaler-v1.js';

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

/** Default target utilization of a pod's CPU, in percent. */
const DEFAULT_CPU_UTILIZATION = 80;

/** Source: SetDefaults_HorizontalPodAutoscaler in pkg/apis/autoscaling/v2/defaults.go. */
function defaultAutoscaler(object: DecodedObject<HorizontalPodAutoscaler>): void {
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

type Autoscaler = DecodedObject<HorizontalPodAutoscaler>;

const TYPE = {
  group: 'autoscaling',
  resource: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  namespaced: true,
} as const;

/** Both versions are judged by the rules of the newer one, in which both are stored. */
const SHARED: Omit<KindRules<Autoscaler>, 'type' | 'schema'> = {
  ownershipFrom: 'creation',
  shortNames: ['hpa'],
  categories: ['all'],
  hasStatus: true,
  ...printed<Autoscaler>(
    NAME,
    shown(
      'Reference',
      ({ spec }) => `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
    ),
    shown('Targets', targetsText),
    shown('MinPods', ({ spec }) => String(spec?.minReplicas ?? '<unset>')),
    shown('MaxPods', ({ spec }) => spec?.maxReplicas ?? 0),
    shown('Replicas', ({ status }) => status?.currentReplicas ?? 0),
    AGE,
  ),
  applyDefaults: (object) => defaultAutoscaler(object),
  prepareForCreate(object) {
    object.status = { desiredReplicas: 0 };
  },
  validate,
  validateUpdate(object, _old, subresource, errors) {
    validateAutoscalerUpdate(object, subresource, errors);
  },
};

function validateAutoscalerUpdate(
  object: Readonly<Autoscaler>,
  subresource: Subresource,
  errors: FieldError[],
): void {
  if (subresource === '') validate(object, errors);
  else validateNonNegative(object.status ?? {}, ['currentReplicas', 'desiredReplicas'], 'status', errors);
}

function validate({ spec }: Readonly<Autoscaler>, errors: FieldError[]): void {
  validateAutoscalerSpec(spec ?? {}, errors);
}

/** Source: pkg/apis/autoscaling (validation, v1 and v2 defaults and conversion). */
export const HORIZONTAL_POD_AUTOSCALER_KIND = defineKind<Autoscaler>({
  ...SHARED,
  type: { ...TYPE, version: 'v2' },
  schema: 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
});

const V1_TYPE = { ...TYPE, version: 'v1' };

/** The first version, which knows no metric but the share of CPU; the rest travels in annotations. */
export const HORIZONTAL_POD_AUTOSCALER_V1_KIND = defineKind({
  ...asV1(SHARED),
  type: V1_TYPE,
  schema: 'io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler',
  view: {
    resource: 'horizontalpodautoscalers.autoscaling',
    toStored: (object) => unstructured(toV2(object)),
    fromStored: (object) => fromV2(object),
  },
});

/** The rules of the newer version for objects of the older one. */
function asV1(rules: typeof SHARED): Omit<KindRules, 'type' | 'schema'> {
  const v2 = (object: Readonly<UnstructuredObject>): Autoscaler => toV2(object);
  return {
    ...rules,
    toRow: (object, nowMs) => rules.toRow(v2(object), nowMs),
    applyDefaults(object) {
      const own: DecodedObject<IAutoscalerV1> = object;
      const spec = (own.spec ??= {});
      spec.minReplicas ??= 1;
      if (!v2(object).spec?.metrics) spec.targetCPUUtilizationPercentage = DEFAULT_CPU_UTILIZATION;
    },
    prepareForCreate(object) {
      object.status = { currentReplicas: 0, desiredReplicas: 0 };
    },
    validate: (object, errors) => validate(v2(object), errors),
    validateUpdate(object, _old, subresource, errors) {
      validateAutoscalerUpdate(v2(object), subresource, errors);
    },
  };
}
