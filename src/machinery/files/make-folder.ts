import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../errors/index.js';

/**
 * Creates a folder and its missing parents. Node's own `recursive` never ends if a folder cannot be created and the
 * system reports its parent as missing, as below /proc, and it reports a read-only file system as a missing folder.
 * @returns whether the folder was created now
 * @throws the system's error
 */
export async function makeFolder(
  path: string,
  { mode = 0o777 }: { readonly mode?: number } = {},
): Promise<boolean> {
  const missing: string[] = [];
  for (let at = resolve(path); !(await isThere(at)); at = dirname(at)) missing.unshift(at);
  let isMade = false;
  for (const folder of missing) isMade = await makeOne(folder, mode);
  if (missing.length === 0 && !(await stat(path)).isDirectory())
    throw Object.assign(new Error(`ENOTDIR: ${path} is not a folder`), { code: 'ENOTDIR' });
  return isMade;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** False if another process was faster. */
async function makeOne(folder: string, mode: number): Promise<boolean> {
  try {
    await mkdir(folder, { mode });
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return false;
    // Its parent existed a moment ago: the system allows no folders in it.
    if (code === 'ENOENT')
      throw Object.assign(new Error(`no folder can be made in ${dirname(folder)}`, { cause: error }), {
        code,
      });
    throw error;
  }
}
