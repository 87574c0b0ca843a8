import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { goQuoteChar, isJsonObject, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { badRequest } from '../../schema/errors/index.js';
import type { StatusError } from '../../schema/errors/index.js';

/**
 * The list that a token belongs to; it is valid for no other. The selectors may change from page to page, as on a
 * genuine server.
 */
export interface ListScope {
  /** Qualified. */
  readonly resource: string;
  /** Empty: cluster scope, or all namespaces. */
  readonly namespace: string;
}

/** The place at which a list continues. */
export interface ListPosition {
  /** The state of the store that the pages show; absent: the newest, which the pages before did not show. */
  readonly revision?: number;
  readonly namespace: string;
  readonly name: string;
}

/** The first byte of a token. A token of another version is refused, and its client lists again. */
const VERSION = 1;
const SALT_BYTES = 16;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const CIPHER = 'aes-256-gcm';
/** Each token has a key of its own, so its nonce may be the same. */
const NONCE = Buffer.alloc(12);
/** How a genuine server writes a position without a revision. */
const NEWEST = -1;

/**
 * A position as the text that clients hand back: encrypted and authenticated, since it names an object that the client may
 * have no right to see.
 * @param secret of the store, so that each server on it understands the others
 */
export function encodeContinueToken(secret: Buffer, scope: ListScope, position: ListPosition): string {
  const { name, namespace, revision = NEWEST } = position;
  const salt = randomBytes(SALT_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(secret, salt, scope), NONCE);
  const text = cipher.update(stringifyJson([revision, namespace, name]), 'utf8');
  return Buffer.concat([Buffer.of(VERSION), salt, text, cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  );
}

/** @throws StatusError 400 for a text that no server of the store has made for this list */
export function decodeContinueToken(secret: Buffer, scope: ListScope, token: string): ListPosition {
  const bytes = decodeBase64(token);
  if (bytes[0] !== VERSION) throw notAToken(bytes);
  const salt = bytes.subarray(1, 1 + SALT_BYTES);
  const tag = bytes.subarray(-TAG_BYTES);
  if (bytes.length < 1 + SALT_BYTES + TAG_BYTES) throw invalidToken();
  try {
    const decipher = createDecipheriv(CIPHER, keyOf(secret, salt, scope), NONCE, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(tag);
    const text = decipher.update(bytes.subarray(1 + SALT_BYTES, -TAG_BYTES), undefined, 'utf8');
    const position = parseJson(text + decipher.final('utf8')) as [number, string, string];
    const [revision, namespace, name] = position;
    return { namespace, name, ...(revision !== NEWEST && { revision }) };
  } catch {
    // Made by another store or for another list, or tampered with.
    throw invalidToken();
  }
}

/**
 * The position in a token of a genuine server, which a client may have had from the server before a move. Its revision
 * is of another store, so the list has expired, and only its rest can be read. The position is the client's to choose:
 * it selects nothing beyond the list's scope.
 */
export function positionOfGenuineToken(token: string): ListPosition | undefined {
  const content = jsonOf(Buffer.from(token, 'base64url').toString('utf8'));
  if (!isJsonObject(content) || content['v'] !== 'meta.k8s.io/v1') return undefined;
  const { rv, start } = content;
  if (!Number.isSafeInteger(rv) || rv === 0 || typeof start !== 'string') return undefined;
  const found = /^(?:([a-z0-9-]+)\/)?([^/\0]+)\0?$/.exec(start);
  return found?.[2] === undefined ? undefined : { namespace: found[1] ?? '', name: found[2] };
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function keyOf(secret: Buffer, salt: Buffer, { namespace, resource }: ListScope): Buffer {
  const info = stringifyJson(['continue', resource, namespace]);
  return Buffer.from(hkdfSync('sha256', secret, salt, info, KEY_BYTES));
}

function decodeBase64(token: string): Buffer {
  const wrong = token.search(/[^\w-]/);
  // A last character of its own carries too few bits.
  const at = wrong < 0 && token.length % 4 === 1 ? token.length - 1 : wrong;
  if (at >= 0) throw invalidToken(`illegal base64 data at input byte ${at}`);
  return Buffer.from(token, 'base64url');
}

/** In the words of a genuine server, whose tokens are JSON. */
function notAToken(bytes: Buffer): StatusError {
  const [first = 0] = bytes;
  if (first === '{'.charCodeAt(0))
    return badRequest(
      'invalid continue token: continue key is not valid: server does not recognize this encoded version',
    );
  return invalidToken(
    `invalid character ${goQuoteChar(String.fromCharCode(first))} looking for beginning of value`,
  );
}

function invalidToken(problem?: string): StatusError {
  const detail = problem === undefined ? '' : `: ${problem}`;
  return badRequest(`invalid continue token: continue key is not valid${detail}`);
}
