import { join } from 'node:path';
import { StartupError } from '@rollkeeper/machinery/errors';
import { readOwnFile, replaceFile } from '@rollkeeper/machinery/files';
import type { Logger } from '@rollkeeper/machinery/logging';
import { ANY_PORT } from './admin-port.js';
import { isPortFree } from '@rollkeeper/machinery/listening';
import type { CompiledUpOptions } from './up.options.js';

/** Beside `run.json`, which a stop removes. */
const FILE = 'console-port';
const HOST = '127.0.0.1';
const LAST_PORT = 65_535;

/**
 * The port of the console: the given one; otherwise that of the last start, so that bookmarks stay good; otherwise the
 * one after the API server's. If the last two are taken, the system chooses.
 * @throws StartupError if the given one is taken
 */
export async function portForConsole(
  up: Pick<CompiledUpOptions, 'console-port' | 'data-dir' | 'port'>,
  logger: Pick<Logger, 'warn'>,
): Promise<string> {
  const given = up['console-port'];
  if (given !== undefined) {
    if (await isPortFree(given, HOST)) return String(given);
    throw new StartupError(`console-port: ${given} is in use`);
  }
  const known = await rememberedPort(up['data-dir']);
  const wanted = known ?? portAfter(up.port);
  if (wanted === undefined) return ANY_PORT;
  if (await isPortFree(wanted, HOST)) return String(wanted);
  if (known !== undefined)
    logger.warn('the console cannot be where it was: its port is in use', { port: known });
  return ANY_PORT;
}

/**
 * The flag with the address at which the console will be, for links to it. Nowhere yet if the system chooses the port.
 */
export function consoleUrlFlag(port: string): Readonly<Record<string, string>> {
  return port === ANY_PORT ? {} : { '--console-url': `http://${HOST}:${port}` };
}

/** For the next start. @param adminUrl where the console is now */
export async function rememberConsolePort(dataDir: string, adminUrl: string): Promise<void> {
  const port = URL.parse(adminUrl)?.port ?? '';
  if (port !== '') await replaceFile(join(dataDir, FILE), `${port}\n`, { mode: 0o600 });
}

/** Undefined: none, or what is there is no port. */
async function rememberedPort(dataDir: string): Promise<number | undefined> {
  const text = (await readOwnFile(join(dataDir, FILE)).catch(() => undefined))?.trim() ?? '';
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port > 0 && port <= LAST_PORT ? port : undefined;
}

/** Undefined if the system chooses that of the API server as well, or there is none after it. */
function portAfter(port: number): number | undefined {
  return port === 0 || port === LAST_PORT ? undefined : port + 1;
}
