import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CRASH_POINTS } from './measures/crash-points.js';
import { runCrashPoint } from './measures/run-crash-points.js';
import { ChaosSet } from './set/chaos-set.js';

const DIST = join(import.meta.dirname, '..', '..', 'dist');
/** The dangerous ones; `npm run chaos -- --measure crash-points` makes all. */
const NAMES = [
  'create: after the intents are stored',
  'create: after creation 2 of 4',
  'delete: after deletion 1 of 3',
];

describe('a replica that is killed while it manages pods', () => {
  let set: ChaosSet;

  beforeAll(async () => {
    set = await ChaosSet.start({ dist: DIST, replicas: 2, random: Math.random });
  });

  afterAll(async () => {
    await set.stop();
    set.remove();
  });

  it.each(NAMES)('leaves nothing undone and nothing done twice: %s', async (name) => {
    const point = CRASH_POINTS.find((candidate) => candidate.name === name);
    if (!point) throw new Error(`no crash point is named ${name}`);
    const { created, violations } = await runCrashPoint(set, point, NAMES.indexOf(name));
    expect(created).toBe(4);
    expect(violations).toEqual([]);
  });
});
