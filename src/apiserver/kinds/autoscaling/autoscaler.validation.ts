import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import { checkDns1123Label, checkPathSegment, nanosOf, ownField } from '@rollkeeper/machinery/kubernetes';
import type {
  HPAScalingRules,
  HorizontalPodAutoscalerSpec,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '@rollkeeper/machinery/types/autoscaling-v2';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateContainerResourceName } from '../validation/resource-names.js';
import { validateSyntax } from '../validation/words.js';

type Spec = Decoded<HorizontalPodAutoscalerSpec>;

/** Source: validateHorizontalPodAutoscalerSpec in pkg/apis/autoscaling/validation/validation.go. */
export function validateAutoscalerSpec(spec: Spec, errors: FieldError[]): void {
  const { minReplicas, maxReplicas = 0, metrics = [], behavior } = spec;
  if (minReplicas !== undefined && minReplicas < 1)
    errors.push(invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
  if (maxReplicas === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  else if (maxReplicas < 0)
    errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to 1'));
  if (minReplicas !== undefined && maxReplicas < minReplicas)
    errors.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  validateReference(spec.scaleTargetRef ?? {}, 'spec.scaleTargetRef', errors);
  validateApiVersion(spec.scaleTargetRef ?? {}, 'spec.scaleTargetRef.apiVersion', errors);
  metrics.forEach((metric, index) => validateMetric(metric, `spec.metrics[${index}]`, errors));
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External'))
    errors.push(
      forbidden(
        'spec.metrics',
        'must specify at least one Object or External metric to support scaling to zero replicas',
      ),
    );
  if (behavior?.scaleUp) validateRules(behavior.scaleUp, 'spec.behavior.scaleUp', errors);
  if (behavior?.scaleDown) validateRules(behavior.scaleDown, 'spec.behavior.scaleDown', errors);
}

function validateReference(
  { kind, name }: { readonly kind?: string; readonly name?: string },
  path: string,
  errors: FieldError[],
): void {
  for (const [field, value] of Object.entries({ kind, name })) {
    if (!value) errors.push(required(`${path}.${field}`));
    else validateSyntax(value, checkPathSegment, `${path}.${field}`, errors);
  }
}

/** All that can be scaled but ReplicationControllers is in a group. */
function validateApiVersion(
  { apiVersion = '', kind }: { readonly apiVersion?: string; readonly kind?: string },
  path: string,
  errors: FieldError[],
): void {
  const parts = apiVersion.split('/');
  if (parts.length > 2)
    errors.push(invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  else if (kind !== 'ReplicationController' && (parts.length < 2 || parts[0] === ''))
    errors.push(invalid(path, apiVersion, 'apiVersion must specify API group'));
}

const SOURCES = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
} as const;
const TYPES = Object.keys(SOURCES);

function validateMetric(metric: Decoded<MetricSpec>, path: string, errors: FieldError[]): void {
  const { type } = metric;
  if (!type) errors.push(required(`${path}.type`, 'must specify a metric source type'));
  if (!TYPES.includes(type ?? '')) errors.push(notSupported(`${path}.type`, type ?? '', TYPES));
  const present = Object.values(SOURCES).filter((source) => metric[source]);
  const expected = ownField<(typeof present)[number]>(SOURCES, type ?? '');
  if (type && expected && !metric[expected])
    errors.push(required(`${path}.${expected}`, 'must populate information for the given metric source'));
  present.forEach((source) => {
    if (present.length > 1 && source !== expected)
      errors.push(forbidden(`${path}.${source}`, 'must populate the given metric source only'));
  });
  validateSource(metric, path, errors);
}

function validateSource(metric: Decoded<MetricSpec>, path: string, errors: FieldError[]): void {
  const { object, external, pods, resource, containerResource } = metric;
  if (object) {
    const at = `${path}.object`;
    validateReference(object.describedObject ?? {}, `${at}.describedObject`, errors);
    validateIdentifier(object.metric ?? {}, `${at}.metric`, errors);
    const words = 'must set either a target value or averageValue';
    validateTarget(object.target ?? {}, ['averageValue', 'value'], words, `${at}.target`, errors);
  }
  if (external) {
    const at = `${path}.external`;
    validateIdentifier(external.metric ?? {}, `${at}.metric`, errors);
    const words = 'must set either a target value for metric or a per-pod target';
    validateTarget(external.target ?? {}, ['averageValue', 'value'], words, `${at}.target`, errors);
    const { value, averageValue } = external.target ?? {};
    if (value !== undefined && averageValue !== undefined)
      errors.push(
        forbidden(`${at}.target.value`, 'may not set both a target value for metric and a per-pod target'),
      );
  }
  if (pods) {
    validateIdentifier(pods.metric ?? {}, `${path}.pods.metric`, errors);
    const words = 'must specify a positive target averageValue';
    validateTarget(pods.target ?? {}, ['averageValue'], words, `${path}.pods.target`, errors);
  }
  if (resource) validateResource(resource, `${path}.resource`, errors);
  if (containerResource) {
    const at = `${path}.containerResource`;
    const { container, name } = containerResource;
    if (!name) errors.push(required(`${at}.name`, 'must specify a resource name'));
    else validateContainerResourceName(name, `${at}.name`, errors);
    if (!container) errors.push(required(`${at}.container`, 'must specify a container'));
    else validateSyntax(container, checkDns1123Label, `${at}.container`, errors);
    validateResourceTarget(containerResource.target, at, errors);
  }
}

function validateResource(
  { name, target }: { readonly name?: string; readonly target?: Decoded<MetricTarget> },
  path: string,
  errors: FieldError[],
): void {
  if (!name) errors.push(required(`${path}.name`, 'must specify a resource name'));
  validateResourceTarget(target, path, errors);
}

function validateResourceTarget(
  target: Decoded<MetricTarget> = {},
  path: string,
  errors: FieldError[],
): void {
  const words = 'must set either a target raw value or a target utilization';
  validateTarget(target, ['averageUtilization', 'averageValue'], words, `${path}.target`, errors);
  if (target.averageUtilization !== undefined && target.averageValue !== undefined)
    errors.push(
      forbidden(
        `${path}.target.averageValue`,
        'may not set both a target raw value and a target utilization',
      ),
    );
}

function validateIdentifier({ name }: Decoded<MetricIdentifier>, path: string, errors: FieldError[]): void {
  if (!name) errors.push(required(`${path}.name`, 'must specify a metric name'));
  else validateSyntax(name, checkPathSegment, `${path}.name`, errors);
}

type TargetField = 'value' | 'averageValue' | 'averageUtilization';
const TARGET_TYPES = ['AverageValue', 'Utilization', 'Value'];

/** One of `fields` is required, and all present ones must be positive. */
function validateTarget(
  target: Decoded<MetricTarget>,
  fields: readonly TargetField[],
  words: string,
  path: string,
  errors: FieldError[],
): void {
  const { type, averageUtilization, value, averageValue } = target;
  if (!type) errors.push(required(`${path}.type`, 'must specify a metric target type'));
  if (!TARGET_TYPES.includes(type ?? ''))
    errors.push(invalid(`${path}.type`, type ?? '', 'must be either Utilization, Value, or AverageValue'));
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.push(invalid(`${path}.averageUtilization`, averageUtilization, 'must be greater than 0'));
  for (const [field, amount] of Object.entries({ value, averageValue }))
    if (amount !== undefined && nanosOf(amount) <= 0n)
      errors.push(invalid(`${path}.${field}`, String(amount), 'must be positive'));
  if (fields.some((field) => target[field] !== undefined)) return;
  const [first = 'value'] = fields;
  errors.push(required(`${path}.${first}`, words));
}

const SELECT_POLICIES = ['Disabled', 'Max', 'Min'];
const POLICY_TYPES = ['Percent', 'Pods'];
const MAX_PERIOD = 1800;
const MAX_WINDOW = 3600;

function validateRules(rules: Decoded<HPAScalingRules>, path: string, errors: FieldError[]): void {
  const { stabilizationWindowSeconds: window, selectPolicy, policies = [], tolerance } = rules;
  if (window !== undefined && window < 0)
    errors.push(
      invalid(`${path}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero'),
    );
  if (window !== undefined && window > MAX_WINDOW)
    errors.push(
      invalid(`${path}.stabilizationWindowSeconds`, window, `must be less than or equal to ${MAX_WINDOW}`),
    );
  if (selectPolicy !== undefined && !SELECT_POLICIES.includes(selectPolicy))
    errors.push(notSupported(`${path}.selectPolicy`, selectPolicy, SELECT_POLICIES));
  if (policies.length === 0) errors.push(required(`${path}.policies`, 'must specify at least one Policy'));
  policies.forEach(({ type = '', value = 0, periodSeconds = 0 }, index) => {
    const at = `${path}.policies[${index}]`;
    if (!POLICY_TYPES.includes(type)) errors.push(notSupported(`${at}.type`, type, POLICY_TYPES));
    if (value <= 0) errors.push(invalid(`${at}.value`, value, 'must be greater than zero'));
    if (periodSeconds <= 0)
      errors.push(invalid(`${at}.periodSeconds`, periodSeconds, 'must be greater than zero'));
    if (periodSeconds > MAX_PERIOD)
      errors.push(
        invalid(`${at}.periodSeconds`, periodSeconds, `must be less than or equal to ${MAX_PERIOD}`),
      );
  });
  if (tolerance !== undefined && nanosOf(tolerance) < 0n)
    errors.push(invalid(`${path}.tolerance`, String(tolerance), 'must be greater or equal to 0'));
}
