import type { EventNote, EventRecorder } from '@rollkeeper/client/events/event-recorder';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';

interface RecordedEvent extends EventNote {
  readonly kind: string;
  readonly key: string;
}

/** Keeps events in memory instead of writing them. */
export class MemoryEventRecorder implements EventRecorder {
  readonly events: RecordedEvent[] = [];

  record(about: DeepReadonly<KubernetesObject>, note: EventNote): void {
    this.events.push({ ...note, kind: about.kind, key: keyOf(about.metadata) });
  }

  /** Every event as `TYPE REASON MESSAGE`, in order. */
  get lines(): readonly string[] {
    return this.events.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  }
}
