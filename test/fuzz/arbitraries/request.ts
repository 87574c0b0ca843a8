import type { HostileRequest } from '../fuzzed-server.js';
import type { FuzzedApi } from './api.js';

export function* requestBatches(
  _api: FuzzedApi,
  _o: { seed: number; count: number },
): Generator<readonly HostileRequest[]> {}
