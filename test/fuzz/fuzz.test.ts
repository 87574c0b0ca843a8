import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FuzzRun } from './fuzz-run.js';
import { FuzzedServer } from './fuzzed-server.js';
import { SINGLE_SEEDS } from './seeds/index.js';

const DIST = join(import.meta.dirname, '..', '..', 'dist');
const SEED = Number(process.env['ROLLKEEPER_FUZZ_SEED'] ?? 1);
const REQUESTS = Number(process.env['ROLLKEEPER_FUZZ_REQUESTS'] ?? 600);
/** The attacks by size are so many times smaller than in `npm run fuzz`, which also floods the server and looks at the clock. */
const EASIER = 40;

describe('an API server that somebody with a token attacks', () => {
  it(
    'answers no 5xx, does not die, and remembers nothing that it should not',
    { timeout: 900_000 },
    async () => {
      const lines: string[] = [`seed ${SEED}, ${REQUESTS} requests`];
      const { findings, statuses, unjudged } = await new FuzzRun({
        start: () => FuzzedServer.start({ dist: DIST }),
        seed: SEED,
        requests: REQUESTS,
        seeds: SINGLE_SEEDS,
        easier: EASIER,
        patient: true,
        say: (line) => lines.push(line),
      }).run();
      expect(findings, lines.join('\n')).toEqual([]);
      expect(unjudged.length).toBeLessThan(SINGLE_SEEDS.length / 2);
      const judged = [...statuses].reduce((sum, [status, count]) => sum + (status === 503 ? 0 : count), 0);
      expect(judged).toBeGreaterThan(REQUESTS / 2);
    },
  );
});
