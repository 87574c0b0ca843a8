import { parseJson, stringifyJson } from '../../base/kubernetes/index.js';
import { badRequest } from '../errors/index.js';
import type { StorageCursor } from '../storage/index.js';

/** The cursor as the opaque text that clients hand back. */
export function encodeContinueToken({ revision, namespace, name }: StorageCursor): string {
  return Buffer.from(
    stringifyJson({ v: 'meta.k8s.io/v1', rv: revision, start: `${namespace}/${name}` }),
  ).toString('base64url');
}

/** @throws StatusError 400 for a text that did not come from us */
export function decodeContinueToken(token: string): StorageCursor {
  try {
    const { rv, start } = parseJson(Buffer.from(token, 'base64url').toString()) as {
      rv: unknown;
      start: unknown;
    };
    if (
      typeof rv === 'number' &&
      Number.isSafeInteger(rv) &&
      typeof start === 'string' &&
      start.includes('/')
    ) {
      const slash = start.indexOf('/');
      return { revision: rv, namespace: start.slice(0, slash), name: start.slice(slash + 1) };
    }
  } catch {
    // Falls through to the same answer: whatever it is, it is not a token.
  }
  throw badRequest('continue key is not valid: the token was not issued by this server');
}
