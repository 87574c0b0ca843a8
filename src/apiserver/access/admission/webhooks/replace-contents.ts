import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';

/** Makes the object what `contents` is, in place: others hold on to it. */
export function replaceContents(object: UnstructuredObject, contents: UnstructuredObject): void {
  for (const field of Object.keys(object)) if (!(field in contents)) delete object[field];
  Object.assign(object, contents);
}
