import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';

/** A write that was sent and of which nobody knows whether it was stored. */
export interface UnansweredWrite {
  readonly verb: 'create' | 'update' | 'patch' | 'delete';
  readonly type: ResourceType;
  readonly ref: { readonly namespace?: string; readonly name: string };
  /** The resourceVersion that it replaces, where it says so: then it cannot be stored any more once the object has another. */
  readonly replaces?: string;
  /** Whether the server may still have been at work on it when it was noted: it has not even said that it failed. */
  readonly mayBeUnderWay: boolean;
  /** By the clock of the process that had sent it; epoch milliseconds. */
  readonly notedAtMs: number;
}

/** As text, the same for the same write. */
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

/** Reads what {@link encodeUnansweredWrite} has written. */
export function parseUnansweredWrite(text: string): UnansweredWrite {
  return parseJson(text) as UnansweredWrite;
}
