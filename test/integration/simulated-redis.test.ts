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

  it('runs scripts with the same results: numbers, JSON, MessagePack, bits, the order of tables, and errors', async () => {
    await both.askBoth(['HELLO', '2']);
    const bytes = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
      maxLength: 12,
    });
    const number = fc.oneof(fc.double(), fc.integer(), fc.maxSafeInteger()).map(String);
    await fc.assert(
      fc.asyncProperty(fc.json(), number, number, bytes, async (json, first, second, text) => {
        const asBytes = Buffer.from(json).toString('latin1');
        const requests = SCRIPTS.map((script) => ['EVAL', script, '1', text, asBytes, first, second, text]);
        const { real, simulated } = await both.askBoth(...requests);
        expect(simulated).toEqual(real);
      }),
      propertyRuns({ gate: 60, nightly: 3000 }),
    );
  });
});

/** Scripts whose first argument is JSON, two are numbers, and one is any text, as is the key. */
const SCRIPTS = [
  'return cjson.encode(cjson.decode(ARGV[1]))',
  'return cjson.decode(ARGV[1])',
  'return cjson.encode({ text = ARGV[4], key = KEYS[1], none = cjson.null, empty = {} })',
  'return cjson.encode(tonumber(ARGV[2]))',
  'return cjson.decode(ARGV[4])',
  'return cmsgpack.pack(cjson.decode(ARGV[1]), tonumber(ARGV[2]), ARGV[4])',
  'return { cmsgpack.unpack(cmsgpack.pack(cjson.decode(ARGV[1]), tonumber(ARGV[2]))) }',
  'return cmsgpack.unpack(ARGV[4])',
  'return tonumber(ARGV[2])',
  'return { tostring(tonumber(ARGV[2])), tonumber(ARGV[2]) .. "", tonumber(ARGV[2]) + tonumber(ARGV[3]) .. "" }',
  'return redis.call("ECHO", tonumber(ARGV[2]))',
  'return string.format("%.0f %.17g %5.2f %q", ARGV[2], ARGV[2], ARGV[3], ARGV[4])',
  'return { math.floor(ARGV[2] % 1000), math.max(ARGV[2], ARGV[3]) .. "", #ARGV[4], string.byte(ARGV[4]) }',
  'local a, b = ARGV[2] % 2 ^ 31, ARGV[3] % 2 ^ 31 return { bit.band(a, b), bit.bor(a, b), bit.bxor(a, b), bit.bnot(a), bit.tohex(b), bit.rol(a, 3), bit.bswap(a), bit.arshift(a, 5), bit.lshift(a, 9) }',
  'local t, keys = cjson.decode(ARGV[1]), {} if type(t) ~= "table" then return 0 end for k in pairs(t) do keys[#keys + 1] = tostring(k) end return keys',
  'local t = {} for word in string.gmatch(ARGV[1], "%w+") do t[word] = #word end local keys = {} for k, v in pairs(t) do keys[#keys + 1] = k .. v end return keys',
  'return redis.sha1hex(ARGV[4])',
  'error(ARGV[4])',
  'return redis.error_reply(ARGV[4])',
  'return { err = ARGV[1] }',
  'return { 1, false, nil, 4 }',
  'local ok, failure = pcall(redis.call, "LPUSH", KEYS[1]) return { tostring(ok), failure.err }',
  'return redis.pcall(ARGV[4], KEYS[1])',
  'return tostring(redis.call("GET", KEYS[1]))',
];
