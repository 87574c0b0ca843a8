import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { AUTHENTICATED } from './user-info.js';
import type { UserInfo } from './user-info.js';

const users = new WeakMap<Socket, UserInfo | null>();

/**
 * Who the client of a connection is by its certificate: the common name is the user, the organisations are the groups.
 * @returns undefined without a certificate that our authority has signed
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
  const { subject } = socket.getPeerCertificate();
  const [username] = valuesOf(subject?.CN);
  if (username === undefined) return null;
  return { username, groups: [...valuesOf(subject.O), AUTHENTICATED] };
}

function valuesOf(field: string | string[] | undefined): string[] {
  return field === undefined ? [] : [field].flat();
}
