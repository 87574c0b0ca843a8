/** The explanation shown when the store does not answer: in `explain`, `status`, the console. */
export const WHILE_STORE_IS_SILENT =
  'pods that run go on running, and so does a cluster with an API server of its own; nothing is rolled out, scaled or replaced, and the embedded API server neither reads nor writes. All of it goes on by itself when it answers';

/** `redis` as people write it. */
export function storeWord(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
