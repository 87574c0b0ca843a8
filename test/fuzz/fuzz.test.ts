import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf } from './arbitraries/texts.js';
import { BoundedRun } from './bounded/bounded-run.js';
import { startBoundedServer } from './bounded/start-bounded-server.js';
import { FuzzRun } from './fuzz-run.js';
import { FuzzedServer } from './fuzzed-server.js';
import { SINGLE_SEEDS } from './seeds/index.js';

const DIST = join(import.meta.dirname, '..', '..', 'dist');
const SEED = Number(process.env['ROLLKEEPER_FUZZ_SEED'] ?? 1);
const REQUESTS = Number(process.env['ROLLKEEPER_FUZZ_REQUESTS'] ?? 600);
/** The attacks by size are so many times smaller than in `npm run fuzz`, which also floods the server and looks at the clock. */
const EASIER = 40;

describe('a document that is made to be sent', () => {
  it('has no more than a little beyond the limit, however often something large is repeated in it', () => {
    const large = Array.from({ length: 20_000 }, () => 'x'.repeat(10_000));
    const length = jsonOf(Array.from({ length: 10_001 }, () => ({ value: large }))).length;
    expect(length).toBeGreaterThan(3 * 1024 * 1024);
    expect(length).toBeLessThan(4 * 1024 * 1024);
    const small = JSON.parse('{"a":[1,null,"x",{"__proto__":{"b":-0}}]}') as unknown;
    expect(jsonOf(small)).toBe(JSON.stringify(small));
  });
});

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

describe('users with rights in one namespace', () => {
  it('see and change nothing of another namespace, and gain no rights', { timeout: 900_000 }, async () => {
    const lines: string[] = [`seed ${SEED}, ${REQUESTS} requests`];
    const say = (line: string): void => void lines.push(line);
    const server = await startBoundedServer(DIST);
    try {
      const { canaries, findings, outside, statuses } = await new BoundedRun(server, {
        seed: SEED,
        requests: REQUESTS,
        isPatient: true,
        say,
      }).run();
      expect(findings, lines.join('\n')).toEqual([]);
      expect(canaries).toBeGreaterThan(200);
      expect(outside).toBeGreaterThan(200);
      expect(statuses.get(200)).toBeGreaterThan(REQUESTS / 50);
    } finally {
      await server.stop();
    }
  });
});
