import type { Attributes, Span, Tracer } from '@opentelemetry/api';
import { SpanKind } from '@opentelemetry/api';
import type { Clock } from '@rollkeeper/machinery/clock';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import { formatTraceparent, isWrittenIn, traceOf, writeOf } from '@rollkeeper/machinery/trace-context';
import type { EnqueueRequest } from './controller-definition.js';
import { differingParts } from './differing-parts.js';

/** Limit of named and of linked merged changes; others are only counted. */
const MAX_TOLD = 16;

type ObjectChange = NonNullable<EnqueueRequest['change']>;

interface ChangeSpanOptions {
  readonly clock: Clock;
  readonly controller: string;
  readonly tracer: Tracer;
}

/**
 * The leader's span of the changes that become one add of a key: a child of the write that made the first of them, if
 * the object names it. It lasts until the add is sent to the queue, so its length is how long a burst was delayed.
 */
export class ChangeSpan {
  /** For the queue. */
  readonly traceparent: string;
  private merged = 0;
  private readonly named: ObjectChange[] = [];
  private linked = 0;
  private ended = false;

  private constructor(
    private readonly span: Span,
    private readonly controller: string,
    private readonly request: EnqueueRequest,
  ) {
    this.traceparent = formatTraceparent(span.spanContext());
  }

  /** Undefined if tracing is off. */
  static start(
    request: EnqueueRequest,
    { clock, controller, tracer }: ChangeSpanOptions,
  ): ChangeSpan | undefined {
    const byLastWrite = !wasRemovedAtOnce(request);
    const { links, parent } = traceOf(request.change?.object, clock.now(), { byLastWrite });
    const span = tracer.startSpan('change seen', { kind: SpanKind.PRODUCER, links }, parent);
    return span.isRecording() ? new ChangeSpan(span, controller, request) : undefined;
  }

  get isOpen(): boolean {
    return !this.ended;
  }

  /**
   * Adds a change to the span as a link to the write that made it, which describes what was written. A change of the
   * same trace, as when pods of one rollout become ready together, is only named.
   */
  merge({ change }: EnqueueRequest): void {
    this.merged += 1;
    if (change && this.named.length < MAX_TOLD) this.named.push(change);
    if (this.linked >= MAX_TOLD || isWrittenIn(change?.object, this.span.spanContext().traceId)) return;
    const context = writeOf(change?.object);
    if (!context) return;
    this.linked += 1;
    this.span.addLink({ context });
  }

  /**
   * @param isNeeded false for an echo of our own write with nothing to do. The SDK's span is then never ended, and so
   *   not exported.
   */
  end({ isNeeded = true }: { isNeeded?: boolean } = {}): void {
    if (this.ended) return;
    this.ended = true;
    if (!isNeeded) return;
    this.span.setAttributes(attributesOf(this.request, this.controller));
    if (this.merged > 0) this.span.setAttribute('rollkeeper.merged', this.merged);
    if (this.named.length > 0) this.span.setAttribute('rollkeeper.merged_changes', this.named.map(nameOf));
    this.span.end();
  }
}

/** `modified Pod default/web-5d-x7k2p`. */
function nameOf({ object, type }: ObjectChange): string {
  return `${type} ${object.kind} ${keyOf(object.metadata)}`;
}

/** A removing write leaves no annotation on the object: the one there names an earlier, unrelated write. */
function wasRemovedAtOnce({ change }: EnqueueRequest): boolean {
  return change?.type === 'deleted' && change.object.metadata.deletionTimestamp === undefined;
}

function attributesOf(request: EnqueueRequest, controller: string): Attributes {
  const { cause, change, delayMs, priority = 'normal', reason = 'child-change', ref } = request;
  const attributes: Attributes = {
    'rollkeeper.controller': controller,
    'rollkeeper.key': keyOf(ref),
    'rollkeeper.reason': reason,
    'rollkeeper.priority': priority,
  };
  if (delayMs) attributes['rollkeeper.delay_ms'] = delayMs;
  if (change) {
    const { metadata, kind } = change.object;
    attributes['k8s.kind'] = kind;
    attributes['k8s.object.key'] = keyOf(metadata);
    attributes['k8s.resource_version'] = metadata.resourceVersion;
    attributes['k8s.event'] = change.type;
  }
  if (cause) {
    attributes['k8s.kind'] = cause.type.kind;
    attributes['k8s.resource_version'] = cause.resourceVersion;
  }
  if (change?.type === 'modified')
    attributes['rollkeeper.differs'] = differingParts(change.old, change.object);
  return attributes;
}
