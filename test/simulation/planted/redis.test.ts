import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { problemOf } from './judge-seed.js';
import { withPatch } from './planted-bug.js';
import { REDIS_BUGS } from './redis-bugs.js';

const ROOT = join(import.meta.dirname, '../../..');

describe('the world on a simulated Redis finds a bug that is planted in a Lua script', () => {
  it.each(REDIS_BUGS.map((bug) => [bug.breaks, bug] as const))('%s', async (_, bug) => {
    // The script is part of larger ones where several run in one step.
    expect(withPatch(readFileSync(join(ROOT, bug.file), 'utf8'), bug)).toBeDefined();
    const planted = (text: string): string => text.replaceAll(bug.from, bug.to);
    let found: number | undefined;
    for (let seed = 1; seed <= bug.withinSeeds && found === undefined; seed++) {
      const problem = await problemOf(seed, bug, planted);
      // A seed that fails anyway shows nothing of the bug.
      if (problem === undefined || (await problemOf(seed, bug, (text) => text)) !== undefined) continue;
      console.log(`${bug.name}: found with seed ${seed}: ${problem}`);
      found = seed;
    }
    expect(found, `found within ${bug.withinSeeds} seeds`).toBeDefined();
  });
});
