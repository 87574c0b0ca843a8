import { createHmac } from 'node:crypto';
import { readNamedFile } from '@rollkeeper/machinery/files';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';

/** Signs what is sent, so that its receiver knows whom it is from, and that it is not sent again by another. */
export interface RequestSigner {
  /** @param id the same each time that the same is sent */
  headersOf(id: string, body: string): Promise<Readonly<Record<string, string>>>;
}

const PREFIX = 'whsec_';
const FEWEST_BYTES = 16;

/**
 * By the Standard Webhooks specification (https://www.standardwebhooks.com): HMAC-SHA256 over id, time and body. Receivers refuse a
 * time that is long past, and an id that they have seen.
 * @param keyFile read at each signature, because it may change
 */
export function fileSigner(keyFile: string | undefined, nowMs: () => number): RequestSigner {
  return {
    async headersOf(id, body) {
      const seconds = Math.floor(nowMs() / 1000);
      const headers = { 'webhook-id': id, 'webhook-timestamp': String(seconds) };
      if (keyFile === undefined) return headers;
      const key = decodeKey(await readNamedFile(keyFile));
      return { ...headers, 'webhook-signature': signatureOf(key, { id, seconds, body }) };
    },
  };
}

export interface SignedContent {
  readonly id: string;
  readonly seconds: number;
  readonly body: string;
}

export function signatureOf(key: Buffer, { body, id, seconds }: SignedContent): string {
  const digest = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return `v1,${digest}`;
}

/**
 * `whsec_` and base64 as that specification writes a key, or else the text itself.
 * @throws InvalidOptionError where it is too short to be one
 */
export function decodeKey(text: string): Buffer {
  const trimmed = text.trim();
  const key = trimmed.startsWith(PREFIX)
    ? Buffer.from(trimmed.slice(PREFIX.length), 'base64')
    : Buffer.from(trimmed, 'utf8');
  if (key.length < FEWEST_BYTES)
    throw new InvalidOptionError(
      'key file',
      `has a key of ${key.length} bytes, the fewest are ${FEWEST_BYTES}`,
    );
  return key;
}
