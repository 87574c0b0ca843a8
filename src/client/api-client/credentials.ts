import { readNamedFileSync } from '@rollkeeper/machinery/files';
import type { Clock } from '@rollkeeper/machinery/clock';
import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { CredentialHeaders, Credentials } from './cluster-connection.js';

/** Interval for rereading a rotated token file, the same as client-go's. */
const TOKEN_FILE_MAX_AGE_MS = 60_000;

/** Constant headers: a fixed token, a password, or none beside a client certificate. */
export function fixedCredentials(headers: CredentialHeaders): Credentials {
  return { headers: () => Promise.resolve(headers), invalidate: () => false };
}

export function bearerToken(token: string): Credentials {
  return fixedCredentials(bearer(token));
}

export function basicAuth(username: string, password: string): Credentials {
  const encoded = Buffer.from(`${username}:${password}`).toString('base64');
  return fixedCredentials({ authorization: `Basic ${encoded}` });
}

export function bearer(token: string): CredentialHeaders {
  return { authorization: `Bearer ${token}` };
}

/** Adds fixed headers, for example impersonation, to those of `credentials`. */
export function withHeaders(credentials: Credentials, extra: CredentialHeaders): Credentials {
  const plainOf = new WeakMap<CredentialHeaders, CredentialHeaders>();
  return {
    headers: async () => {
      const plain = await credentials.headers();
      const all = { ...plain, ...extra };
      plainOf.set(all, plain);
      return all;
    },
    invalidate: (refused) => credentials.invalidate(plainOf.get(refused) ?? refused),
  };
}

/** A user to act as. */
export interface ImpersonatedUser {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** Source: `ImpersonationConfig` of client-go's rest package, and its transport. */
export function impersonation({ extra, groups, uid, username }: ImpersonatedUser): CredentialHeaders {
  const extras = Object.entries(extra ?? {}).map(([key, values]): [string, readonly string[]] => [
    `impersonate-extra-${encodeURIComponent(key.toLowerCase()).replace(/[()']/g, percent)}`,
    values,
  ]);
  return {
    'impersonate-user': username,
    ...(uid && { 'impersonate-uid': uid }),
    ...(groups?.length && { 'impersonate-group': groups }),
    ...Object.fromEntries(extras),
  };
}

/** Encodes characters that a header name cannot have. */
function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The same identity acts as `user`, and as no one that it may act as otherwise. */
export function impersonating(credentials: Credentials, user: ImpersonatedUser): Credentials {
  const own: Credentials = {
    headers: async () => {
      const headers = await credentials.headers();
      const names = Object.keys(headers).filter((name) => name.toLowerCase().startsWith('impersonate-'));
      if (names.length > 0)
        throw new IllegalStateError(
          `the kubeconfig already impersonates another user (${names.join(', ')}), so the replica cannot act as ${user.username}`,
        );
      return headers;
    },
    invalidate: (refused) => credentials.invalidate(refused),
  };
  return withHeaders(own, impersonation(user));
}

/** A token in a file that is rotated externally, for example a projected service account token. */
export class TokenFileCredentials implements Credentials {
  private current?: { readonly headers: CredentialHeaders; readonly readAtMs: number };

  constructor(
    private readonly path: string,
    private readonly clock: Clock,
  ) {}

  headers(): Promise<CredentialHeaders> {
    const nowMs = this.clock.monotonicNow();
    if (!this.current || nowMs - this.current.readAtMs >= TOKEN_FILE_MAX_AGE_MS) this.read(nowMs);
    return Promise.resolve(this.current?.headers ?? {});
  }

  invalidate(refused: CredentialHeaders): boolean {
    this.read(this.clock.monotonicNow());
    return this.current?.headers['authorization'] !== refused['authorization'];
  }

  /** A temporary read error is ignored while the last token may still be valid. */
  private read(nowMs: number): void {
    try {
      const headers = bearer(readNamedFileSync(this.path).toString('utf8').trim());
      this.current = { headers, readAtMs: nowMs };
    } catch (error) {
      if (!this.current) throw new Error(`cannot read the token file ${this.path}`, { cause: error });
    }
  }
}
