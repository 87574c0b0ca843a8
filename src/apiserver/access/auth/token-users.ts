import { readNamedFile } from '@rollkeeper/machinery/files';
import { errorMessage, InvalidOptionError } from '@rollkeeper/machinery/errors';
import { AUTHENTICATED } from './user-info.js';
import type { UserInfo } from './user-info.js';

/** A user that is known by a token that does not change. */
export interface TokenUser {
  readonly token: string;
  readonly username: string;
  readonly uid?: string;
  /** In addition to `system:authenticated`, the group of every authenticated user. */
  readonly groups?: readonly string[];
}

export function userOfToken({ groups = [], uid, username }: TokenUser): UserInfo {
  return {
    username,
    ...(uid && { uid }),
    groups: groups.includes(AUTHENTICATED) ? groups : [...groups, AUTHENTICATED],
  };
}

/**
 * Reads kube-apiserver's `--token-auth-file`: a line a user, `token,name,uid,"group,group"`; of uid and groups either may
 * be missing.
 * @throws InvalidOptionError naming the line
 */
export async function readTokenUsers(path: string): Promise<TokenUser[]> {
  const text = await readNamedFile(path).catch((error: unknown) => {
    throw new InvalidOptionError('token-auth-file', `cannot be read: ${errorMessage(error)}`, {
      cause: error,
    });
  });
  return parseTokenUsers(text);
}

/** @throws InvalidOptionError naming the line */
export function parseTokenUsers(text: string): TokenUser[] {
  const users = text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const fields = fieldsOf(line);
    const [token = '', username = '', uid = '', groups = ''] = fields ?? [];
    if (!fields || fields.length < 2 || token === '' || username === '')
      throw new InvalidOptionError(
        'token-auth-file',
        `line ${index + 1} is not token,name,uid,"group,group"`,
      );
    const named = groups.split(',').flatMap((group) => group.trim() || []);
    return [{ token, username, uid, groups: named }];
  });
  const tokens = new Set(users.map(({ token }) => token));
  if (tokens.size < users.length)
    throw new InvalidOptionError('token-auth-file', 'has one token for two users');
  return users;
}

/** The fields of a line of comma-separated values (RFC 4180); absent when its quotes do not match. */
function fieldsOf(line: string): string[] | undefined {
  const field = /(?:\s*"((?:[^"]|"")*)"\s*|([^",]*))(?:,|$)/y;
  const fields: string[] = [];
  while (field.lastIndex < line.length) {
    const match = field.exec(line);
    if (!match) return undefined;
    fields.push((match[1]?.replaceAll('""', '"') ?? match[2] ?? '').trim());
  }
  return fields;
}
