import { isPortFree } from './free-port.js';

/** The system's choice. */
const ANY = '0';

/**
 * The `--admin-port` of a replica that is started again: the one it had, so that a console left open finds it, or the
 * system's choice (`0`) where that one was taken meanwhile or there was none yet.
 * @param formerUrl where its admin pages were: `http://127.0.0.1:34567`
 */
export async function adminPortAgain(formerUrl: string | undefined): Promise<string> {
  if (formerUrl === undefined) return ANY;
  const { hostname, port } = new URL(formerUrl);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return (await isPortFree(Number(port), host)) ? port : ANY;
}
