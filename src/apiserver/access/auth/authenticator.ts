import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { bearerTokenCheck } from './bearer-token.js';
import type { AuthenticatedToken, ServiceAccountTokens } from './service-account-tokens.js';
import { ISSUER } from './service-account-tokens.js';
import { userOfToken } from './token-users.js';
import type { TokenUser } from './token-users.js';
import { ADMIN, ANONYMOUS, AUTHENTICATED } from './user-info.js';
import type { UserInfo } from './user-info.js';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { DerError, readCertificateSubject } from '@rollkeeper/tls';
import type { CertificateSubject } from '@rollkeeper/tls';

const users = new WeakMap<Socket, UserInfo | null>();

/**
 * The user of a connection by its client certificate: the common name is the user, the organisations are the groups.
 * @returns undefined without a certificate that our authority has signed, and for one whose subject may be read in two ways
 */
function userOfCertificate(socket: Socket): UserInfo | undefined {
  let user = users.get(socket);
  if (user === undefined) {
    user = readUser(socket);
    users.set(socket, user);
  }
  return user ?? undefined;
}

function readUser(socket: Socket): UserInfo | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  const subject = subjectOf(socket.getPeerCertificate().raw);
  if (!subject || subject.commonName === '') return null;
  return { username: subject.commonName, groups: [...subject.organizations, AUTHENTICATED] };
}

/** By the reader that requests are checked by: what that refuses, no authority of ours has to have signed today. */
function subjectOf(certificate: Buffer): CertificateSubject | undefined {
  try {
    return readCertificateSubject(certificate);
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** For whom tokens are that say nothing else: kube-apiserver's default. */
const API_AUDIENCES = [ISSUER];
const BEARER = /^Bearer +(\S+) *$/i;

interface AuthenticatorOptions {
  /** The administrator's token. Absent: authentication is off. */
  readonly token?: string;
  /** @default none */
  readonly users?: readonly TokenUser[];
  readonly serviceAccounts: ServiceAccountTokens;
}

/** Finds the user of a request: by the server's own token, a client certificate, a user's or a service account's token. */
export class Authenticator {
  private readonly isAdmin: ((authorization: string | undefined) => boolean) | undefined;
  /** By the digest of the token: the time of a look-up reveals nothing about other tokens. */
  private readonly users: ReadonlyMap<string, UserInfo>;
  private readonly serviceAccounts: ServiceAccountTokens;

  constructor({ serviceAccounts, token, users = [] }: AuthenticatorOptions) {
    this.isAdmin = token === undefined ? undefined : bearerTokenCheck(token);
    this.users = new Map(users.map((user) => [digest(user.token), userOfToken(user)]));
    this.serviceAccounts = serviceAccounts;
  }

  /**
   * The user of a request: anonymous without credentials. The administrator, who sends most requests, is recognized
   * without a look-up.
   * @returns undefined for credentials that belong to no user
   */
  identify({ headers, socket }: IncomingMessage): UserInfo | Promise<UserInfo | undefined> | undefined {
    const { authorization } = headers;
    if (!this.isAdmin) return ANONYMOUS;
    if (this.isAdmin(authorization)) return ADMIN;
    const user = userOfCertificate(socket);
    if (user) return user;
    if (!authorization) return ANONYMOUS;
    const token = BEARER.exec(authorization)?.[1];
    if (token === undefined) return undefined;
    return this.authenticate(token, []).then((owner) => owner?.user);
  }

  /**
   * The user of a token, and the audiences that it is good for.
   * @param audiences none: the API's own
   */
  async authenticate(token: string, audiences: readonly string[]): Promise<AuthenticatedToken | undefined> {
    const asked = audiences.length === 0 ? API_AUDIENCES : audiences;
    const user = this.isAdmin?.(`Bearer ${token}`) ? ADMIN : this.users.get(digest(token));
    if (!user) return this.serviceAccounts.authenticate(token, asked);
    const common = API_AUDIENCES.filter((audience) => asked.includes(audience));
    return common.length === 0 ? undefined : { user, audiences: common };
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
