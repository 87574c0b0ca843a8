import { createHash, timingSafeEqual, randomBytes } from 'node:crypto';
import { StartupError } from '@rollkeeper/machinery/errors';
import { UntrustedFileError, readOwnFile, replaceFile } from '@rollkeeper/machinery/files';

/**
 * Returns a check of whether an `Authorization` header carries the token. The check takes the same time for every wrong token
 * of a length.
 */
export function bearerTokenCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  const usual = Buffer.from(`Bearer ${token}`);
  return (authorization = '') => {
    // The header as nearly every client writes it needs no hash, which would be a fiftieth of the cost of a request.
    const given = Buffer.from(authorization);
    if (given.length === usual.length && timingSafeEqual(given, usual)) return true;
    const match = /^Bearer +(\S+) *$/i.exec(authorization);
    return match !== null && timingSafeEqual(digest(match[1]!), expected);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * Reads the token in `path`; creates a missing one, readable by its owner only.
 * @param options.isNamed whether the user named this very file, so that its owner is their choice
 * @throws StartupError, for one that other users may have written too
 */
export async function ensureTokenFile(
  path: string,
  options: { readonly isNamed?: boolean } = {},
): Promise<string> {
  const existing = await readOwnFile(path, { ...options, mode: 0o600 }).catch((error: Error) => {
    if (error instanceof UntrustedFileError) throw error;
    throw new StartupError(`cannot read the token file ${path}: ${error.message}`, { cause: error });
  });
  if (existing !== undefined) {
    const token = existing.trim();
    if (token === '')
      throw new StartupError(`the token file ${path} is empty; without it a new token is made`);
    return token;
  }
  const token = randomBytes(32).toString('base64url');
  await replaceFile(path, `${token}\n`, { mode: 0o600 }).catch((error: Error) => {
    throw new StartupError(`cannot write the token file ${path}: ${error.message}`, { cause: error });
  });
  return token;
}
