import { parseJson } from '@rollkeeper/machinery/kubernetes';

/** The value of a text in JSON; `undefined` if there is no text, or none that can be read: another hand wrote it. */
export function readJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A time in RFC 3339, as controllers write it into annotations; others may have written something else there. */
export function isTime(value: unknown): value is string {
  return typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value));
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** A text of one of our annotations: others may have written a longer one, or none. */
export function isShortText(value: unknown, longest = LONGEST_TEXT): value is string {
  return typeof value === 'string' && value.length <= longest;
}

const LONGEST_TEXT = 2000;

/** A count that a controller writes: whole, and not negative. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST;
}

/** The sizes of the API are int32; a counter beyond is no counter. */
const MOST = 2 ** 31 - 1;
