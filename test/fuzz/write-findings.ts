import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from './fuzz-run.js';

/** Writes the findings with their requests, so that each can be sent again. Returns the path of the file. */
export function writeFindings(seed: number, findings: readonly Finding[]): string {
  const file = join(mkdtempSync(join(tmpdir(), 'rollkeeper-fuzz-findings-')), 'findings.json');
  const plain = findings.map(({ request, ...rest }) => ({
    ...rest,
    ...(request && {
      request: { ...request, body: request.body && Buffer.from(request.body).toString('base64') },
    }),
  }));
  writeFileSync(file, JSON.stringify({ seed, findings: plain }, null, 2));
  return file;
}
