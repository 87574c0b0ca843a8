import type { Command } from 'commander';
import type { SignInWays } from '../admin/server/console.controller.js';
import { parseConsoleUrl } from '../insight/object-pages/console-addresses.js';
import type { AdminClientFlags } from './admin-client.js';
import { askReplica } from './admin-client.js';

export interface ConsoleUrlFlags {
  readonly consoleUrl?: string;
}

const ENV = 'ROLLKEEPER_CONSOLE_URL';

/** Adds the option to commands that print where the console shows something. */
export function addConsoleUrlOption(command: Command): Command {
  return command.option(
    '--console-url <url>',
    `URL of the console, for links to it (also ${ENV}) (default: the console of \`up\`, if it runs this cluster)`,
  );
}

/** The console that is named. @throws InvalidOptionError */
export function namedConsole({ consoleUrl }: ConsoleUrlFlags): string | undefined {
  return parseConsoleUrl(consoleUrl ?? process.env[ENV], 'console-url');
}

/** The console of what runs from a data folder. Undefined unless that is the cluster that was asked. */
export async function consoleOfRun(dataDir: string, serverUrl: string): Promise<string | undefined> {
  const { readLiveRunState } = await import('../replica/supervisor/index.js');
  const run = await readLiveRunState(dataDir).catch(() => undefined);
  const [replica] = run?.replicas ?? [];
  const isThatOne = URL.parse(run?.apiServer?.url ?? '')?.origin === URL.parse(serverUrl)?.origin;
  return isThatOne ? replica?.adminUrl : undefined;
}

/** The console that a replica names, otherwise its own address. */
export async function consoleOfReplica(flags: AdminClientFlags, adminUrl: string): Promise<string> {
  try {
    const { consoleUrl } = (await askReplica<SignInWays>(flags, '/console/sign-in-ways')).answer;
    return consoleUrl ?? adminUrl;
  } catch {
    // One of an earlier release.
    return adminUrl;
  }
}
