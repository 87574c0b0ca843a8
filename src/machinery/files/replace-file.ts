import { rename, rm, writeFile } from 'node:fs/promises';

/**
 * Writes a file beside `path` and puts it there once it is whole and on the disk. Whenever the process ends, and whoever reads
 * meanwhile, `path` is what it was, or has all of `content`; written in place, it would be empty for a moment.
 * @param options.mode of the file, less what the umask takes, whatever the file before it had
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
    // Made anew: what another process puts there meanwhile, a link say, is not written through.
    await writeFile(draft, content, { mode, flag: 'wx', flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
