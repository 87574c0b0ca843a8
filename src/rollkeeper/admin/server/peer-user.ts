import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { isIPv6 } from 'node:net';

/** The ends of a connection on this machine, as seen by the server. */
type LocalEnds = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/** The kernel's tables of TCP sockets: of IPv4, and of IPv6, which has IPv4 in mapped addresses. */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const ROOT = 0;

/**
 * Whether a connection comes from a process of our own user, or of root, on this machine; undefined if the system does not
 * report it, which is everywhere but on Linux.
 * @param ends of a connection whose other end is on this machine
 */
export async function isOwnUser(ends: LocalEnds): Promise<boolean | undefined> {
  const own = process.getuid?.();
  if (own === undefined) return undefined;
  const tables = await Promise.all(TABLES.map((path) => readFile(path, 'utf8').catch(() => undefined)));
  if (tables.every((table) => table === undefined)) return undefined;
  const user = userOfPeer(ends, tables.join('\n'));
  return user === own || user === ROOT;
}

/**
 * The user of the socket at the other end; undefined: no process has it open.
 * @param tables in the format of `/proc/net/tcp`
 */
export function userOfPeer(ends: LocalEnds, tables: string): number | undefined {
  const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = ends;
  const theirs = new Set(spellingsOf(remoteAddress, remotePort));
  const ours = new Set(spellingsOf(localAddress, localPort));
  for (const line of tables.split('\n')) {
    const [, local = '', remote = '', , , , , user = '', , inode = '0'] = line.trim().split(/\s+/);
    // A closed socket belongs to root there, and has no inode.
    if (theirs.has(local) && ours.has(remote) && inode !== '0') return Number(user);
  }
  return undefined;
}

/** An IPv4 address may be that of an IPv6 socket, and the other way round. */
function spellingsOf(address: string, port: number): string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1];
  const version4 = mapped ?? (isIPv6(address) ? undefined : address);
  if (version4 === undefined) return [`${wordsOf(bytesOfIPv6(address))}${end}`];
  const bytes = version4.split('.').map(Number);
  const inVersion6 = [...new Array<number>(10).fill(0), 0xff, 0xff, ...bytes];
  return [`${wordsOf(bytes)}${end}`, `${wordsOf(inVersion6)}${end}`];
}

/** The kernel prints words of four bytes in reverse byte order. */
function wordsOf(bytes: readonly number[]): string {
  let text = '';
  for (let from = 0; from < bytes.length; from += 4)
    for (const byte of bytes.slice(from, from + 4).reverse())
      text += byte.toString(16).toUpperCase().padStart(2, '0');
  return text;
}

function bytesOfIPv6(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [first, last] = [groups(head), groups(tail ?? '')];
  const missing = tail === undefined ? 0 : 8 - first.length - last.length;
  return [...first, ...new Array<string>(missing).fill('0'), ...last].flatMap((group) => {
    const word = Number.parseInt(group, 16);
    return [word >> 8, word & 0xff];
  });
}
