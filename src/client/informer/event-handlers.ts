import type { Logger } from '@rollkeeper/machinery/logging';
import type { ResourceEvent, ResourceEventHandler } from './informer.js';

interface Registration<T> {
  readonly handler: ResourceEventHandler<T>;
  active: boolean;
}

/**
 * The handlers of one informer. Each sees every event in order. A handler that throws is logged and does not affect
 * others; a removed handler is not called again, not even for the rest of a batch.
 */
export class EventHandlers<T> {
  /** Replaced, never changed, so that a batch in progress keeps its list. */
  private registrations: readonly Registration<T>[] = [];

  constructor(private readonly logger: Logger) {}

  get size(): number {
    return this.registrations.length;
  }

  /** Registers `handler` after showing it `initial`. Returns a function that removes it. */
  add(handler: ResourceEventHandler<T>, initial: readonly ResourceEvent<T>[]): () => void {
    const registration: Registration<T> = { handler, active: true };
    this.registrations = [...this.registrations, registration];
    for (const event of initial) this.call(registration, event);
    return () => {
      registration.active = false;
      this.registrations = this.registrations.filter((other) => other !== registration);
    };
  }

  /** Dispatches the events of one change of the store; a handler added during that has seen them as initial state. */
  dispatch(events: readonly ResourceEvent<T>[]): void {
    const registrations = this.registrations;
    for (const event of events) {
      for (const registration of registrations) this.call(registration, event);
    }
  }

  private call(registration: Registration<T>, event: ResourceEvent<T>): void {
    if (!registration.active) return;
    try {
      registration.handler(event);
    } catch (error) {
      this.logger.error('an event handler threw', { event: event.type, error });
    }
  }
}
