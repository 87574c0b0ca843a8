import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { AUTHENTICATED } from './user-info.js';
import type { UserInfo } from './user-info.js';
import { DerError, readCertificateSubject } from '@rollkeeper/tls';
import type { CertificateSubject } from '@rollkeeper/tls';

const users = new WeakMap<Socket, UserInfo | null>();

/**
 * The user of a connection by its client certificate: the common name is the user, the organisations are the groups.
 * @returns undefined without a certificate that our authority has signed, and for one whose subject may be read in two ways
 */
export function userOfCertificate(socket: Socket): UserInfo | undefined {
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
