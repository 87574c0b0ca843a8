import { createHash, timingSafeEqual } from 'node:crypto';

/** Tells whether an `Authorization` header carries the token; takes the same time for every wrong one. */
export function bearerTokenCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  return (authorization) => {
    const match = /^Bearer +(\S+) *$/i.exec(authorization ?? '');
    return match !== null && timingSafeEqual(digest(match[1]!), expected);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
