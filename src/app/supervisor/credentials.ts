import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureTokenFile } from '../../api-server/auth/index.js';

/** What a client of the API server needs; the server wrote it into the data folder. */
export async function readCredentials(dataDir: string): Promise<{ caPem: string; token: string }> {
  const [caPem, token] = await Promise.all([
    readFile(join(dataDir, 'ca.crt'), 'utf8'),
    readFile(join(dataDir, 'token'), 'utf8'),
  ]);
  return { caPem, token: token.trim() };
}

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

/** By which the controllers sign certificates: the API server's own authority, whose clients it knows. */
export function signingFlags(dataDir: string): Readonly<Record<string, string>> {
  return {
    '--cluster-signing-cert-file': join(dataDir, 'ca.crt'),
    '--cluster-signing-key-file': join(dataDir, 'ca.key'),
  };
}
