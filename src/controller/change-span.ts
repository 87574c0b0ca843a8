import type { Tracer } from '@opentelemetry/api';
import { SpanKind } from '@opentelemetry/api';
import type { Clock } from '../clock/index.js';
import type { DeepReadonly, KubernetesObject } from '../kubernetes/index.js';
import { keyOf, qualifiedResource } from '../kubernetes/index.js';
import { formatTraceparent, traceOf } from '../trace-context/index.js';
import type { EnqueueRequest } from './controller-definition.js';

/**
 * The leader's span of one change that concerns a key: a child of the write that made the change, where the object says
 * which one that was. Returns its `traceparent` for the queue, undefined where tracing is off.
 */
export function traceChange(
  request: EnqueueRequest,
  { clock, controller, tracer }: { clock: Clock; controller: string; tracer: Tracer },
): string | undefined {
  const { cause, change, ref } = request;
  const { links, parent } = traceOf(change?.object, clock.now());
  const span = tracer.startSpan('change seen', { kind: SpanKind.PRODUCER, links }, parent);
  if (span.isRecording()) {
    span.setAttributes({
      'rollkeeper.controller': controller,
      'rollkeeper.key': keyOf(ref),
      'rollkeeper.reason': request.reason ?? 'child-change',
      'rollkeeper.priority': request.priority ?? 'normal',
      ...(request.delayMs ? { 'rollkeeper.delay_ms': request.delayMs } : {}),
      ...(cause
        ? {
            'k8s.resource': qualifiedResource(cause.type),
            'k8s.kind': cause.type.kind,
            'k8s.resource_version': cause.resourceVersion,
          }
        : {}),
      ...(change ? { 'k8s.object.key': keyOf(change.object.metadata), 'k8s.event': change.type } : {}),
      ...(change?.type === 'modified'
        ? { 'rollkeeper.differs': differingParts(change.old, change.object) }
        : {}),
    });
  }
  span.end();
  return span.isRecording() || span.spanContext().traceId !== NO_TRACE
    ? formatTraceparent(span.spanContext())
    : undefined;
}

const NO_TRACE = '0'.repeat(32);
/** Changes with every write and says nothing. */
const NOISE: ReadonlySet<string> = new Set(['metadata.resourceVersion', 'metadata.managedFields']);

/** The parts of an object, two levels deep, that are not the same: `spec.replicas`, `status.conditions`. */
export function differingParts(
  old: DeepReadonly<KubernetesObject>,
  object: DeepReadonly<KubernetesObject>,
): string[] {
  const before = partsOf(old);
  const after = partsOf(object);
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => !NOISE.has(name) && before.get(name) !== after.get(name)).sort();
}

function partsOf(object: DeepReadonly<KubernetesObject>): Map<string, string> {
  const parts = Object.entries(object).flatMap(([section, value]): [string, string][] => {
    if (typeof value !== 'object' || value === null) return [[section, JSON.stringify(value)]];
    return Object.entries(value).map(([name, part]) => [`${section}.${name}`, JSON.stringify(part)]);
  });
  return new Map(parts);
}
