import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'admin-token';

export function adminTokenFile(dataDir: string): string {
  return join(dataDir, FILE);
}

/** Makes the token that lets this machine's owner change things through the admin API; an existing one stays. */
export async function ensureAdminToken(dataDir: string): Promise<void> {
  const token = randomBytes(32).toString('base64url');
  try {
    await writeFile(adminTokenFile(dataDir), `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Undefined where there is none, or where it is not ours to read. */
export async function readAdminToken(dataDir: string): Promise<string | undefined> {
  try {
    return (await readFile(adminTokenFile(dataDir), 'utf8')).trim();
  } catch {
    return undefined;
  }
}
