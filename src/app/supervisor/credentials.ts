import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a client of the API server needs; the server wrote it into the data folder. */
export async function readCredentials(dataDir: string): Promise<{ caPem: string; token: string }> {
  const [caPem, token] = await Promise.all([
    readFile(join(dataDir, 'ca.crt'), 'utf8'),
    readFile(join(dataDir, 'token'), 'utf8'),
  ]);
  return { caPem, token: token.trim() };
}
