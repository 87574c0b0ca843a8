import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureTokenFile } from '../../api-server/auth/index.js';

const FILE = 'admin-token';

export function adminTokenFile(dataDir: string): string {
  return join(dataDir, FILE);
}

/** Makes the token that lets this machine's owner change things through the admin API; an existing one stays. */
export async function ensureAdminToken(dataDir: string): Promise<void> {
  await ensureTokenFile(adminTokenFile(dataDir));
}

/** Undefined where there is none, or where it is not ours to read. */
export async function readAdminToken(dataDir: string): Promise<string | undefined> {
  try {
    return (await readFile(adminTokenFile(dataDir), 'utf8')).trim();
  } catch {
    return undefined;
  }
}
