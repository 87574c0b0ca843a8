import { readFileSync } from 'node:fs';
import type { Clock } from '../clock/index.js';
import type { Credentials } from './cluster-connection.js';

/** A rotated token file is read again after this long, as client-go does. */
const TOKEN_FILE_MAX_AGE_MS = 60_000;

/** The same headers for ever: a fixed token, a password, or nothing beside a client certificate. */
export function fixedCredentials(headers: Readonly<Record<string, string>>): Credentials {
  return { headers: () => Promise.resolve(headers), invalidate: () => false };
}

export function bearerToken(token: string): Credentials {
  return fixedCredentials({ authorization: `Bearer ${token}` });
}

export function basicAuth(username: string, password: string): Credentials {
  const encoded = Buffer.from(`${username}:${password}`).toString('base64');
  return fixedCredentials({ authorization: `Basic ${encoded}` });
}

/** Adds fixed headers, for example impersonation, to what `credentials` answer. */
export function withHeaders(credentials: Credentials, extra: Readonly<Record<string, string>>): Credentials {
  return {
    headers: async () => ({ ...(await credentials.headers()), ...extra }),
    invalidate: () => credentials.invalidate(),
  };
}

/** A token that somebody else rotates in a file, for example a projected service account token. */
export class TokenFileCredentials implements Credentials {
  private current?: { readonly token: string; readonly readAtMs: number };

  constructor(
    private readonly path: string,
    private readonly clock: Clock,
  ) {}

  headers(): Promise<Readonly<Record<string, string>>> {
    const nowMs = this.clock.monotonicNow();
    if (!this.current || nowMs - this.current.readAtMs >= TOKEN_FILE_MAX_AGE_MS) this.read(nowMs);
    return Promise.resolve({ authorization: `Bearer ${this.current?.token ?? ''}` });
  }

  invalidate(): boolean {
    const before = this.current?.token;
    this.read(this.clock.monotonicNow());
    return this.current?.token !== before;
  }

  /** A file that cannot be read for a moment costs nothing while the last token may still be good. */
  private read(nowMs: number): void {
    try {
      this.current = { token: readFileSync(this.path, 'utf8').trim(), readAtMs: nowMs };
    } catch (error) {
      if (!this.current) throw new Error(`cannot read the token file ${this.path}`, { cause: error });
    }
  }
}
