import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Clock } from '@rollkeeper/machinery/clock';

/** The prefix of every session. It tells a session from a token without decrypting anything. */
const PREFIX = 'rkc1.';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** A day's work. */
const LASTS_MS = 12 * 3_600_000;

interface Sealed {
  readonly token: string;
  readonly endsMs: number;
}

/** Whether it has the form of a session. */
export function isSession(secret: string): boolean {
  return secret.startsWith(PREFIX);
}

/**
 * Sessions of browsers: a token and when the session ends, sealed. The browser cannot read the token, and every replica
 * with the same admin token can open the session, also after a restart. Nothing is kept here.
 */
export class SealedSessions {
  private readonly key: Uint8Array;

  /** @param secret what replicas have in common. Absent: sessions are good for this process alone */
  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    secret: string | undefined,
  ) {
    const source = secret ?? randomBytes(KEY_BYTES);
    this.key = new Uint8Array(hkdfSync('sha256', source, '', 'rollkeeper console session', KEY_BYTES));
  }

  seal(token: string): { readonly session: string; readonly endsMs: number } {
    const endsMs = this.clock.now() + LASTS_MS;
    const content: Sealed = { token, endsMs };
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, iv, { authTagLength: TAG_BYTES });
    const sealed = Buffer.concat([iv, cipher.update(JSON.stringify(content), 'utf8'), cipher.final()]);
    const bytes = Buffer.concat([sealed, cipher.getAuthTag()]);
    return { session: PREFIX + bytes.toString('base64url'), endsMs };
  }

  /** The token. Undefined: it has ended, or another key sealed it. */
  open(session: string): string | undefined {
    try {
      const bytes = Buffer.from(session.slice(PREFIX.length), 'base64url');
      if (bytes.length < IV_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv(CIPHER, this.key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
      const { endsMs, token } = JSON.parse(text.toString('utf8')) as Sealed;
      return endsMs > this.clock.now() ? token : undefined;
    } catch {
      return undefined;
    }
  }
}
