import { describe, expect, it } from 'vitest';
import { userOfPeer } from './peer-user.js';

const HEAD =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
const row = (local: string, remote: string, user: number, inode = 4711): string =>
  `   0: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000  ${user}        0 ${inode} 1 0000000000000000 20 4 0 10 -1`;
/** 127.0.0.1:40000 to 127.0.0.1:8080, from the server's side. */
const ENDS = { remoteAddress: '127.0.0.1', remotePort: 40_000, localAddress: '127.0.0.1', localPort: 8080 };
const [CLIENT, SERVER] = ['0100007F:9C40', '0100007F:1F90'];
const [MAPPED_CLIENT, MAPPED_SERVER] = [
  '0000000000000000FFFF00000100007F:9C40',
  '0000000000000000FFFF00000100007F:1F90',
];

describe('the user at the other end of a connection', () => {
  it('is who made the socket from there to here, and not who made the one from here to there', () => {
    const tables = [HEAD, row(SERVER, CLIENT, 0), row(CLIENT, SERVER, 1001)].join('\n');
    expect(userOfPeer(ENDS, tables)).toBe(1001);
  });

  it('is found whichever version of IP either side speaks', () => {
    expect(userOfPeer(ENDS, row(MAPPED_CLIENT, MAPPED_SERVER, 1001))).toBe(1001);
    const mapped = { ...ENDS, remoteAddress: '::ffff:127.0.0.1', localAddress: '::ffff:127.0.0.1' };
    expect(userOfPeer(mapped, row(CLIENT, SERVER, 1001))).toBe(1001);
    const sixth = { ...ENDS, remoteAddress: '::1', localAddress: '::1' };
    const one = '00000000000000000000000001000000';
    expect(userOfPeer(sixth, row(`${one}:9C40`, `${one}:1F90`, 7))).toBe(7);
  });

  it('is not that of another address with the same port', () => {
    expect(userOfPeer(ENDS, row('0200007F:9C40', SERVER, 0))).toBeUndefined();
  });

  it('is nobody once the socket is closed, though the table says root then', () => {
    expect(userOfPeer(ENDS, row(CLIENT, SERVER, 0, 0))).toBeUndefined();
    expect(userOfPeer(ENDS, HEAD)).toBeUndefined();
  });
});
