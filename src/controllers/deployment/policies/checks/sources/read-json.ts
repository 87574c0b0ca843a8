import { isJsonObject, parseJson } from '@rollkeeper/machinery/kubernetes';
import type { IncomingAnswer } from '../common/http-sender.js';
import { NoAnswerError } from '../common/no-answer-error.js';

/** The JSON of an answer. @throws NoAnswerError if it is no success, or no JSON */
export function jsonOf({ body, status }: IncomingAnswer): unknown {
  if (status < 200 || status > 299) throw new NoAnswerError(`answered ${status}`);
  return parsedAnyway({ body, status });
}

/** {@link jsonOf} regardless of the status, for servers whose refusals are JSON as well. */
export function parsedAnyway({ body, status }: IncomingAnswer): unknown {
  try {
    return parseJson(body);
  } catch {
    throw new NoAnswerError(`answered ${status}, and no JSON`);
  }
}

/** The value at a path of fields and indexes; undefined if a part is missing. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, part) => {
    if (typeof part === 'number') return Array.isArray(inner) ? (inner as unknown[]).at(part) : undefined;
    return isJsonObject(inner) && Object.hasOwn(inner, part) ? inner[part] : undefined;
  }, value);
}

/** The list at a path. @throws NoAnswerError if there is none */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const list = path.length === 0 ? value : valueAt(value, ...path);
  if (Array.isArray(list)) return list;
  throw new NoAnswerError(`answered without ${path.length === 0 ? 'a list' : path.join('.')}`);
}

/** A number, also as a text; NaN for anything else. */
export function numberOf(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : NaN;
}

/** A word such as `bad_data`, which an answer calls its error; nothing that could hold more than that is repeated. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' && /^[A-Za-z_]{1,60}$/.test(value) ? ` (${value})` : '';
}
