import { badRequest } from '../errors/index.js';

/**
 * Whether the request only wants to know what would happen.
 * @throws StatusError 400 for a `dryRun` other than `All`
 */
export function isDryRun(query: URLSearchParams, fromBody: readonly string[] = []): boolean {
  const values = [...query.getAll('dryRun'), ...fromBody].filter((value) => value !== '');
  for (const value of values) {
    if (value !== 'All') {
      throw badRequest(`dryRun: Unsupported value: ${JSON.stringify(value)}: supported values: "All"`);
    }
  }
  return values.length > 0;
}
