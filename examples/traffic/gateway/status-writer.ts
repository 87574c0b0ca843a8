import type { ApiClient, Clock, Kind, KubernetesObject, Logger } from 'rollkeeper';
import { isConflict, isNotFound, sameJson, updateStatus } from 'rollkeeper';

/** A write that failed is decided again after this, milliseconds. */
const AGAIN_AFTER_MS = 1000;

interface WithStatus extends KubernetesObject {
  readonly status?: object;
}

export interface StatusWriterOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called some time after a write that failed. */
  readonly onFailure: () => void;
}

/** Writes what differs from the state that it was decided by. A newer state refuses the write, and brings the next one. */
export class StatusWriter {
  private readonly options: StatusWriterOptions;
  private readonly writing = new Set<Promise<void>>();

  constructor(options: StatusWriterOptions) {
    this.options = options;
  }

  write<T extends WithStatus>(kind: Kind<T>, object: T, status: NonNullable<T['status']>): void {
    if (sameJson(object.status, status)) return;
    const write = this.send(kind, object, status).finally(() => this.writing.delete(write));
    this.writing.add(write);
  }

  /** Resolves when no write is on its way. */
  async idle(): Promise<void> {
    await Promise.all(this.writing);
  }

  private async send<T extends WithStatus>(
    kind: Kind<T>,
    object: T,
    status: NonNullable<T['status']>,
  ): Promise<void> {
    const { client, clock, logger, onFailure } = this.options;
    try {
      await updateStatus(client, kind, object as Parameters<typeof updateStatus<T>>[2], status as never);
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return;
      logger.warn('a status could not be written', { kind: kind.kind, name: object.metadata.name, error });
      clock.setTimeout(onFailure, AGAIN_AFTER_MS);
    }
  }
}
