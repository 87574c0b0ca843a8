import { createHash } from 'node:crypto';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';

/** Options that say which replica it is and where: each has its own. */
const OF_ITSELF: ReadonlySet<string> = new Set(['identity', 'admin-host', 'admin-port']);

/**
 * Equal for replicas that were given the same options, and different otherwise: without those of a replica itself, in any
 * order. Of hidden values only that there is one counts.
 */
export function digestOfOptions(options: Readonly<Record<string, unknown>>): string {
  const common = Object.entries(options)
    .filter(([name, value]) => !OF_ITSELF.has(name) && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(stringifyJson(common)).digest('hex');
}
