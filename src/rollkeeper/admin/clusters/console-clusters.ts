import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { parseConsoleUrl } from '../../insight/object-pages/console-addresses.js';

/** An installation of Rollkeeper that has a console of its own. */
export interface ConsoleCluster {
  readonly name: string;
  /** The origin of its console. */
  readonly url: string;
}

const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
/** A menu that a person can look through, each of whose entries is asked every few seconds. */
const MOST = 30;

/** `eu=https://rollkeeper.eu.example.com,us=https://…`. @throws InvalidOptionError naming the entry */
export function parseConsoleClusters(list: string | undefined, option: string): readonly ConsoleCluster[] {
  const entries = (list ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length > MOST)
    throw new InvalidOptionError(option, `has ${entries.length} entries; ${MOST} are shown`);
  const clusters = entries.map((entry) => parseEntry(entry, option));
  for (const field of ['name', 'url'] as const) {
    const values = clusters.map((cluster) => cluster[field]);
    const twice = values.find((value, index) => values.indexOf(value) !== index);
    if (twice !== undefined) throw new InvalidOptionError(option, `has "${twice}" twice`);
  }
  return clusters;
}

function parseEntry(entry: string, option: string): ConsoleCluster {
  const [, name = '', url = ''] = /^([^=]*)=(.*)$/.exec(entry) ?? [];
  if (!NAME.test(name))
    throw new InvalidOptionError(option, `"${entry}" must be NAME=URL, with a name of letters, digits and -`);
  return { name, url: parseConsoleUrl(url, option) ?? url };
}
