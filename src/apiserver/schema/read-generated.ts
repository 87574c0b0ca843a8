import { readFileSync } from 'node:fs';
import { parseJson } from '@rollkeeper/machinery/kubernetes';

/** The content of a file that our generators have written: its form is the one that they give it, so nothing is checked. */
export function readGenerated<T>(file: URL): T {
  return parseJson(readFileSync(file, 'utf8')) as T;
}
