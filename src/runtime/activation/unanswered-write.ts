import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';

/** A write that was sent but whose outcome is unknown. */
export interface UnansweredWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'delete';
  readonly type: ResourceType;
  readonly ref: { readonly namespace?: string; readonly name: string };
  /**
   * The resourceVersion that it replaces, if it has a precondition: it can no longer be stored once the object has
   * another.
   */
  readonly replaces?: string;
  /** Whether the server may still have been executing it when it was recorded: it has not even reported a failure. */
  readonly mayBeUnderWay: boolean;
  /** By the clock of the sending process; epoch milliseconds. */
  readonly notedAtMs: number;
  /**
   * How long ago it was recorded, by the clock of the store that has it, milliseconds. Not part of its text: the store
   * says it with the lock. Absent: the store does not know.
   */
  readonly ageMs?: number;
}

/** A canonical text: equal writes have equal texts. */
export function encodeUnansweredWrite(write: UnansweredWrite): string {
  const { verb, type, ref, replaces, mayBeUnderWay, notedAtMs } = write;
  const { group, version, resource, kind, namespaced } = type;
  const { namespace, name } = ref;
  return stringifyJson({
    verb,
    type: { group, version, resource, kind, namespaced },
    ref: { namespace, name },
    replaces,
    mayBeUnderWay,
    notedAtMs,
  });
}

/** Parses the result of {@link encodeUnansweredWrite}. */
export function parseUnansweredWrite(text: string): UnansweredWrite {
  return parseJson(text) as UnansweredWrite;
}
