import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectPlainFailures, runAllAgainst } from '../e2e/support/commands-of-a-cluster.js';
import type { Fault } from '../support/faulty-port.js';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'rollkeeper-faulty-'))));
afterAll(() => rmSync(folder, { recursive: true }));

// A port that accepts and never answers is in test/e2e/silent-api.test.ts.
describe('every command that uses a cluster ends in one line where its port', () => {
  it.each<[Fault, RegExp]>([
    ['nothing listens', /the API server at http:\S+ does not answer: .*(ECONNREFUSED|nothing came)/],
    ['closes at once', /the API server at http:\S+ does not answer: /],
    [
      'answers 503',
      /the API server at http:\S+ answers, but is not ready \(its \/readyz answers 503\): .*503/,
    ],
  ])('%s', async (fault, says) => expectPlainFailures(await runAllAgainst(fault, folder), says), 240_000);
});
