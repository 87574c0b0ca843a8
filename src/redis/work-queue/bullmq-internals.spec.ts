import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { KNOWN_BULLMQ, assertKnownBullMq } from './bullmq-internals.js';

describe('the guard of what we know of BullMQ', () => {
  it('accepts the release that is installed, which package.json pins', () => {
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
    const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
    expect(dependencies['bullmq']).toBe(KNOWN_BULLMQ);
    expect(() => assertKnownBullMq()).not.toThrow();
  });

  it.each(['6.7.1', '6.8.0', '7.0.0', 'of an unknown version'])(
    'refuses BullMQ %s, naming it and the one that is expected',
    (found) => {
      const naming = expect.objectContaining({ code: 'STARTUP' }) as Error;
      expect(() => assertKnownBullMq(found)).toThrow(naming);
      expect(() => assertKnownBullMq(found)).toThrow(
        `BullMQ ${found} was found where ${KNOWN_BULLMQ} is expected`,
      );
    },
  );
});
