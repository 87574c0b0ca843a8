import { errorMessage } from '../../base/errors/index.js';
import type { ApiRequest, RawResponse } from '../http/index.js';
import type { Storage } from '../storage/index.js';

const PATHS = new Set(['/healthz', '/livez', '/readyz']);

export function isHealthPath(path: string): boolean {
  return PATHS.has(path);
}

/** `/livez` says that the process answers, the other two that its store does as well. `?verbose` names the checks. */
export async function handleHealth(storage: Storage, request: ApiRequest): Promise<RawResponse> {
  const probe = request.path.slice(1);
  const problem = probe === 'livez' ? undefined : await storage.ping().then(() => undefined, errorMessage);
  const healthy = problem === undefined;
  const lines = [
    '[+]ping ok',
    ...(probe === 'livez' ? [] : [healthy ? '[+]storage ok' : '[-]storage failed: reason withheld']),
  ];
  const verdict = `${probe} check ${healthy ? 'passed' : 'failed'}`;
  const verbose = request.query.has('verbose') || !healthy;
  return {
    status: healthy ? 200 : 500,
    raw: verbose ? `${lines.join('\n')}\n${verdict}\n` : 'ok',
    contentType: 'text/plain; charset=utf-8',
  };
}
