import { rename, rm, writeFile } from 'node:fs/promises';

/**
 * Replaces a file atomically: writes a draft beside `path` and renames it once it is complete and on disk. At any
 * moment, also after a crash, `path` has either the old content or all of the new one; written in place, it would be
 * empty for a moment.
 * @param options.mode of the file, less the umask, regardless of the mode before
 * @throws the system's error; `path` is untouched then
 */
export async function replaceFile(
  path: string,
  content: string,
  { mode }: { readonly mode: number },
): Promise<void> {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    await rm(draft, { force: true });
    // Created exclusively: a link that another process puts there is not followed.
    await writeFile(draft, content, { mode, flag: 'wx', flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
