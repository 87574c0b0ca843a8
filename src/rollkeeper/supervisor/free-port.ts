import { createServer } from 'node:net';
import { listeningAddress } from '@rollkeeper/machinery/listening';

/** The system's choice. */
export const ANY_PORT = '0';

/**
 * The `--admin-port` of a replica: of one that is restarted the former one, so that an open console finds it, or the
 * system's choice (`0`) if that is taken.
 * @param formerUrl where its admin pages were: `http://127.0.0.1:34567`
 * @param first of a replica that has not run before
 */
export async function adminPortAgain(formerUrl: string | undefined, first = ANY_PORT): Promise<string> {
  if (formerUrl === undefined) return first;
  const { hostname, port } = new URL(formerUrl);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return (await isPortFree(Number(port), host)) ? port : ANY_PORT;
}

/** A currently unused TCP port of the loopback interface. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, '127.0.0.1', done));
  const { port } = listeningAddress(probe);
  await new Promise((done) => probe.close(done));
  return port;
}

/** Whether this process could listen on `port` of `host` now. */
export async function isPortFree(port: number, host: string): Promise<boolean> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((done) => {
    probe.once('error', () => done(false));
    probe.listen(port, host, () => done(true));
  });
  if (isFree) await new Promise((done) => probe.close(done));
  return isFree;
}
