import { randomUUID } from 'node:crypto';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { Event } from '@rollkeeper/machinery/kubernetes';
import type { ActNote, ActVerb } from './act.js';

interface ActDone {
  readonly object: KubernetesObject;
  readonly verb: ActVerb;
  /** The words for what happened. */
  readonly said: string;
  readonly note: ActNote;
  /** The replica that did it. */
  readonly component: string;
}

/** The field of an Event is limited to this many characters. */
const LONGEST_MESSAGE = 1024;

/**
 * Stores the author, the act and the reason as an Event of the object, which `kubectl describe` shows. @throws what the API
 * answers
 */
export async function noteAct(client: ApiClient, clock: Clock, done: ActDone): Promise<void> {
  const { component, note, object, said, verb } = done;
  const { name, namespace = 'default', uid } = object.metadata;
  const at = toRfc3339(clock.now());
  const why = note.reason === undefined || note.reason === '' ? '' : ` (${note.reason})`;
  const event = {
    ...{ apiVersion: 'v1', kind: 'Event' },
    metadata: { namespace, name: `${name}.${randomUUID().slice(0, 16)}` },
    involvedObject: {
      ...{ apiVersion: object.apiVersion, kind: object.kind, name, uid },
      ...(object.metadata.namespace !== undefined && { namespace }),
    },
    ...{
      type: 'Normal',
      reason: REASONS[verb],
      message: `${note.by}${why}: ${said}`.slice(0, LONGEST_MESSAGE),
    },
    source: { component: 'rollkeeper-console', host: component },
    ...{ firstTimestamp: at, lastTimestamp: at, count: 1 },
  };
  await client.create(Event, event);
}

const REASONS: Readonly<Record<ActVerb, string>> = {
  scale: 'ScaledByHand',
  'set-image': 'ImageSetByHand',
  restart: 'RestartedByHand',
  pause: 'PausedByHand',
  resume: 'ResumedByHand',
  evict: 'EvictedByHand',
  cordon: 'CordonedByHand',
  uncordon: 'UncordonedByHand',
  drain: 'DrainedByHand',
};
