import { isPortFree } from '@rollkeeper/machinery/listening';

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
