import type { Clock } from '@rollkeeper/machinery/clock';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Pod, ReplicaSet, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import { annotateWithActiveSpan } from '@rollkeeper/machinery/trace-context';
import type { ApiClient, WriteOptions } from './api-client.js';
import { delegatingClient } from './around-writes.js';

/** Types owned by our controllers, whose objects may carry a trace annotation. */
const ANNOTATED: ReadonlySet<string> = new Set([ReplicaSet, Pod].map(qualifiedResource));

/**
 * Wraps `client` to annotate ReplicaSets and pods with the active span when they are created or updated as a whole.
 * Observers of the object can continue the trace, on another replica and with any API server. Never causes an
 * additional write.
 */
export function withTraceAnnotations(client: ApiClient, clock: Pick<Clock, 'now'>): ApiClient {
  const annotated = <T extends KubernetesObject>(
    type: ResourceType,
    object: T,
    { subresource }: WriteOptions,
  ): T => {
    if (subresource !== undefined || !ANNOTATED.has(qualifiedResource(type))) return object;
    const copy = { ...object, metadata: { ...object.metadata } };
    annotateWithActiveSpan(copy, clock.now());
    return copy;
  };
  return {
    ...delegatingClient(client),
    create: (type, object, options = {}) => client.create(type, annotated(type, object, options), options),
    update: (type, object, options = {}) => client.update(type, annotated(type, object, options), options),
  };
}
