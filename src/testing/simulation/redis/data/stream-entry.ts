export interface StreamId {
  readonly ms: number;
  readonly seq: number;
}

export interface StreamEntry extends StreamId {
  /** Fields and values in turn. */
  readonly fields: readonly string[];
}

export function compareIds(a: StreamId, b: StreamId): number {
  return a.ms - b.ms || a.seq - b.seq;
}

export function formatId({ ms, seq }: StreamId): string {
  return `${ms}-${seq}`;
}
