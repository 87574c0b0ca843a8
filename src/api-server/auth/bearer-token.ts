import { createHash, timingSafeEqual } from 'node:crypto';

/** Tells whether an `Authorization` header carries the token; takes the same time for every wrong one of a length. */
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
