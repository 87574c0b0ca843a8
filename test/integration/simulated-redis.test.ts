import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { propertyRuns } from '../../src/testing/property-runs.js';
import { arbitraryRequest } from './support/arbitrary-requests.js';
import { TwoRedises, dumpOf } from './support/two-redises.js';

let both: TwoRedises;

beforeAll(async () => {
  both = await TwoRedises.start();
});
afterAll(() => both.stop());

describe('a simulated Redis beside a real one', () => {
  it.each([2, 3])(
    'answers any requests with the same bytes, in version %d of the protocol',
    async (version) => {
      const runs = propertyRuns({ gate: 60, nightly: 2000 });
      await both.askBoth(['HELLO', String(version)]);
      await fc.assert(
        fc.asyncProperty(fc.array(arbitraryRequest, { minLength: 10, maxLength: 80 }), async (requests) => {
          const start = [
            ['FLUSHALL'],
            [
              'ZADD',
              'full',
              ...Array.from({ length: 80 }, (_, index) => [String(index), `m${index}`]).flat(),
            ],
          ];
          const { real, simulated } = await both.askBoth(...start, ...requests);
          expect(simulated).toEqual(real);
          expect(await dumpOf(both.mock)).toEqual(await dumpOf(both.real));
        }),
        runs,
      );
    },
  );
});
