import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A TCP port of the loopback interface that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}

/** Whether this process could listen on `port` of `host` at this moment. */
export async function isPortFree(port: number, host: string): Promise<boolean> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((done) => {
    probe.once('error', () => done(false));
    probe.listen(port, host, () => done(true));
  });
  if (isFree) await new Promise((done) => probe.close(done));
  return isFree;
}
