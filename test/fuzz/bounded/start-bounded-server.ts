import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FuzzedServer } from '../fuzzed-server.js';
import { tokenFile } from './users.js';

/** A server that knows the bounded users; what they may do is not yet said there. */
export async function startBoundedServer(dist: string): Promise<FuzzedServer> {
  const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-fuzz-users-'));
  const file = join(folder, 'users.csv');
  writeFileSync(file, tokenFile(), { mode: 0o600 });
  try {
    return await FuzzedServer.start({ dist, args: ['--token-auth-file', file] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
