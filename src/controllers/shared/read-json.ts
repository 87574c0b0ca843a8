import { parseJson } from '@rollkeeper/machinery/kubernetes';

/** What a text says in JSON; `undefined` where there is no text, or none that can be read: another hand wrote it. */
export function readJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
