import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { StartupError } from '@rollkeeper/machinery/errors';
import { readOwnFile, replaceFile } from '@rollkeeper/machinery/files';

/** The key with which a cluster signs the tokens of its service accounts: an elliptic curve key, P-256. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export function createSigningKey(): SigningKey {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** Reads the key that `path` holds (PEM); makes one, readable by its owner only, where there is none. */
export async function ensureSigningKeyFile(path: string): Promise<SigningKey> {
  try {
    const pem = await readOwnFile(path, { mode: 0o600 });
    if (pem !== undefined) {
      const privateKey = createPrivateKey(pem);
      return { privateKey, publicKey: createPublicKey(privateKey) };
    }
    const made = createSigningKey();
    const text = made.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    await replaceFile(path, text, { mode: 0o600 });
    return made;
  } catch (error) {
    if (error instanceof StartupError) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    throw new StartupError(`cannot use the key of service account tokens ${path}: ${problem}`, {
      cause: error,
    });
  }
}
