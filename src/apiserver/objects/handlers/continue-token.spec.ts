import { describe, expect, it } from 'vitest';
import { decodeContinueToken, encodeContinueToken, positionOfGenuineToken } from './continue-token.js';

const SECRET = Buffer.alloc(32, 1);
const SCOPE = { resource: 'secrets', namespace: 'shop' };
const POSITION = { revision: 12, namespace: 'shop', name: 'db' };

describe('a continue token', () => {
  it.each([
    POSITION,
    { namespace: 'shop', name: 'db' },
    { revision: 2 ** 53 - 1, namespace: '', name: 'ä\0/' },
  ])('gives the position back for the list that it was made for: %j', (position) => {
    expect(decodeContinueToken(SECRET, SCOPE, encodeContinueToken(SECRET, SCOPE, position))).toEqual(
      position,
    );
  });

  it('reveals no name to its holder', () => {
    const bytes = Buffer.from(
      encodeContinueToken(SECRET, SCOPE, { ...POSITION, name: 'hidden' }),
      'base64url',
    );
    expect(bytes.toString('latin1')).not.toContain('hidden');
  });

  it.each([
    ['of another resource', SECRET, { ...SCOPE, resource: 'configmaps' }],
    ['of another namespace', SECRET, { ...SCOPE, namespace: 'alice' }],
    ['of all namespaces', SECRET, { ...SCOPE, namespace: '' }],
    [
      'of a resource whose name runs into the namespace',
      SECRET,
      { resource: 'secrets","shop', namespace: '' },
    ],
    ['of another store', Buffer.alloc(32, 2), SCOPE],
  ])('is refused by a list %s', (_name, secret, scope) => {
    const token = encodeContinueToken(SECRET, SCOPE, POSITION);
    expect(() => decodeContinueToken(secret, scope, token)).toThrow(
      /^invalid continue token: continue key is not valid$/,
    );
  });

  it('is refused with any of its bytes changed, or cut at any place', () => {
    const bytes = Buffer.from(encodeContinueToken(SECRET, SCOPE, POSITION), 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      for (const wrong of [changed, bytes.subarray(0, at)])
        expect(() => decodeContinueToken(SECRET, SCOPE, wrong.toString('base64url'))).toThrow(
          /continue key is not valid/,
        );
    }
  });

  it.each([
    ['garbage', "continue key is not valid: invalid character '\\u0081' looking for beginning of value"],
    ['a/b', 'continue key is not valid: illegal base64 data at input byte 1'],
    ['abcde', 'continue key is not valid: illegal base64 data at input byte 4'],
    [
      Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"/"}').toString('base64url'),
      'continue key is not valid: server does not recognize this encoded version',
    ],
  ])('is refused in the words of a genuine server if no server has made it: %s', (token, says) => {
    expect(() => decodeContinueToken(SECRET, SCOPE, token)).toThrow(`invalid continue token: ${says}`);
  });
});

describe('a continue token of a genuine server', () => {
  const positionOf = (content: unknown) =>
    positionOfGenuineToken(Buffer.from(JSON.stringify(content)).toString('base64url'));

  it('has the position of the page that it would have begun', () => {
    expect(positionOf({ v: 'meta.k8s.io/v1', rv: 1, start: 'a' })).toEqual({ namespace: '', name: 'a' });
    expect(positionOf({ v: 'meta.k8s.io/v1', rv: -1, start: 'shop/db\0' })).toEqual({
      namespace: 'shop',
      name: 'db',
    });
  });

  it.each([
    { v: 'meta.k8s.io/v2', rv: 1, start: 'a' },
    { v: 'meta.k8s.io/v1', rv: 0, start: 'a' },
    { v: 'meta.k8s.io/v1', rv: 'x', start: 'a' },
    { v: 'meta.k8s.io/v1', rv: 1, start: '' },
    { v: 'meta.k8s.io/v1', rv: 1, start: '../a' },
    { v: 'meta.k8s.io/v1', rv: 1, start: 'a/b/c' },
    { v: 'meta.k8s.io/v1', rv: 1 },
    null,
    'a',
  ])('is none: %j', (content) => {
    expect(positionOf(content)).toBeUndefined();
  });

  it('is not ours', () => {
    expect(positionOfGenuineToken(encodeContinueToken(SECRET, SCOPE, POSITION))).toBeUndefined();
    expect(positionOfGenuineToken('a/b')).toBeUndefined();
  });
});
