import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Clock } from '@rollkeeper/machinery/clock';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface SealedBoxOptions {
  /** Differs between boxes of one secret: what one has sealed, no other opens. */
  readonly purpose: string;
  /** Begins everything that is sealed, and identifies it without a key. */
  readonly prefix: string;
  /** The secret that replicas have in common. Absent: what is sealed is good for this process alone. */
  readonly secret: string | undefined;
}

type Dated = { readonly endsMs: number };

/**
 * Seals what a browser keeps for the server: the browser can neither read nor change it, and every replica with the same
 * secret opens it, also after a restart. Nothing is kept here.
 */
export class SealedBox<T extends object> {
  private readonly key: Uint8Array;
  private readonly prefix: string;

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    { prefix, purpose, secret }: SealedBoxOptions,
  ) {
    this.prefix = prefix;
    this.key = new Uint8Array(
      hkdfSync('sha256', secret ?? randomBytes(KEY_BYTES), '', `rollkeeper ${purpose}`, KEY_BYTES),
    );
  }

  /** Whether it has the form of what this box seals. */
  isForm(text: string): boolean {
    return text.startsWith(this.prefix);
  }

  seal(content: T, endsMs: number): string {
    const dated: T & Dated = { ...content, endsMs };
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, iv, { authTagLength: TAG_BYTES });
    const sealed = Buffer.concat([iv, cipher.update(JSON.stringify(dated), 'utf8'), cipher.final()]);
    return this.prefix + Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** Undefined: it has ended, or another key sealed it. */
  open(sealed: string): (T & Dated) | undefined {
    if (!this.isForm(sealed)) return undefined;
    try {
      const text = sealed.slice(this.prefix.length);
      const bytes = Buffer.from(text, 'base64url');
      // The decoder passes over what is no part of the encoding.
      if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return undefined;
      const decipher = createDecipheriv(CIPHER, this.key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
      const content = JSON.parse(plain.toString('utf8')) as T & Dated;
      return content.endsMs > this.clock.now() ? content : undefined;
    } catch {
      return undefined;
    }
  }
}
