import { join } from 'node:path';
import { ensureTokenFile } from '@rollkeeper/apiserver/auth';
import { StartupError } from '@rollkeeper/machinery/errors';
import { UntrustedFileError, readOwnFile } from '@rollkeeper/machinery/files';

/** A client's credentials for the API server, which wrote them into the data folder. */
export async function readCredentials(dataDir: string): Promise<{ caPem: string; token: string }> {
  const read = async (name: string): Promise<string> => {
    const content = await readOwnFile(join(dataDir, name));
    if (content === undefined) throw new StartupError(`${join(dataDir, name)} is missing`);
    return content;
  };
  const [caPem, token] = await Promise.all([read('ca.crt'), read('token')]);
  return { caPem, token: token.trim() };
}

const FILE = 'admin-token';

export function adminTokenFile(dataDir: string): string {
  return join(dataDir, FILE);
}

/** Creates the token that lets this machine's owner make changes through the admin API; keeps an existing one. */
export async function ensureAdminToken(dataDir: string): Promise<void> {
  await ensureTokenFile(adminTokenFile(dataDir));
}

/** Undefined if there is none, or if we may not read it. @throws UntrustedFileError */
export async function readAdminToken(dataDir: string): Promise<string | undefined> {
  try {
    return (await readOwnFile(adminTokenFile(dataDir)))?.trim();
  } catch (error) {
    if (error instanceof UntrustedFileError) throw error;
    return undefined;
  }
}

/**
 * The key pair that the controllers sign certificates with: the API server's own authority, whose clients it accepts.
 */
export function signingFlags(dataDir: string): Readonly<Record<string, string>> {
  return {
    '--cluster-signing-cert-file': join(dataDir, 'ca.crt'),
    '--cluster-signing-key-file': join(dataDir, 'ca.key'),
  };
}
