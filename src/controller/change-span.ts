import { isDeepStrictEqual } from 'node:util';
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
  if (!span.isRecording()) return undefined;
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
  span.end();
  return formatTraceparent(span.spanContext());
}

/** Changes with every write and says nothing. */
const NOISE: ReadonlySet<string> = new Set(['metadata.resourceVersion', 'metadata.managedFields']);

/** The parts of an object, two levels deep, that are not the same: `spec.replicas`, `status.conditions`. */
export function differingParts(
  old: DeepReadonly<KubernetesObject>,
  object: DeepReadonly<KubernetesObject>,
): string[] {
  const sections = new Set([...Object.keys(old), ...Object.keys(object)]);
  return [...sections].flatMap((section) =>
    differingIn(section, valueOf(old, section), valueOf(object, section)),
  );
}

function differingIn(section: string, before: unknown, after: unknown): string[] {
  if (!isObject(before) || !isObject(after)) return isDeepStrictEqual(before, after) ? [] : [section];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => !NOISE.has(`${section}.${name}`) && !isDeepStrictEqual(before[name], after[name]))
    .map((name) => `${section}.${name}`);
}

function valueOf(object: object, name: string): unknown {
  return (object as Record<string, unknown>)[name];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
