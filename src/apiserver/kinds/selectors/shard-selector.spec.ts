import { describe, expect, it } from 'vitest';
import { StatusError } from '../../schema/errors/index.js';
import { parseShardSelector } from './index.js';

const parse = (shardSelector: string) => parseShardSelector(new URLSearchParams({ shardSelector }));
const UID = 'object.metadata.uid';
const LOW = `'0x0000000000000000'`;
const MIDDLE = `'0x8000000000000000'`;
const HIGH = `'0x10000000000000000'`;

function problemOf(text: string): string {
  try {
    parse(text);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    expect(error.status).toMatchObject({ code: 500 });
    expect(error.status).not.toHaveProperty('reason');
    return error.message.replace(/^invalid shard selector: /, '');
  }
  return 'none';
}

describe('a shardSelector', () => {
  it('selects the hashes from its start up to, and without, its end', () => {
    const shard = parse(`shardRange(${UID}, '0x00000000000000aa', '0x00000000000000ff')`)!;
    const within = [0xa9n, 0xaan, 0xfen, 0xffn].map((hash) => shard.includes(hash));
    expect(within).toEqual([false, true, true, false]);
    expect(shard.field).toBe(UID);
  });

  it('selects the greatest hash when it ends with 2^64', () => {
    const shard = parse(`shardRange(object.metadata.namespace, ${MIDDLE}, ${HIGH})`)!;
    expect([2n ** 63n - 1n, 2n ** 64n - 1n].map((hash) => shard.includes(hash))).toEqual([false, true]);
  });

  it('is echoed in one form, regardless of its spaces, quotes and brackets', () => {
    const ranges = [`shardRange(${UID}, ${LOW}, ${MIDDLE})`, `shardRange(${UID}, ${MIDDLE}, ${HIGH})`];
    for (const text of [
      ranges.join(' || '),
      `  shardRange( ${UID} ,${LOW},${MIDDLE.replaceAll("'", '"')}) ||\n(${ranges[1]})  `,
    ])
      expect(parse(text)!.text).toBe(ranges.join(' || '));
  });

  it('may have as many ranges as a line of a request has room for', () => {
    const range = `shardRange(${UID}, ${LOW}, ${MIDDLE})`;
    expect(parse(Array.from({ length: 300 }, () => range).join('||'))!.includes(1n)).toBe(true);
  });

  it('is not parsed as an expression when it is long and no list of ranges, because every reader may send it', () => {
    const range = `shardRange(${UID}, ${LOW}, ${MIDDLE})`;
    const long = [range, ...Array.from({ length: 300 }, () => `(${range})`)].join('||');
    for (const text of [long, '('.repeat(5000)])
      expect(problemOf(text)).toBe(
        `CEL parse error: expression code point size exceeds limit: size: ${text.length}, limit 1000`,
      );
  });

  it('selects everything when it is absent or empty', () => {
    expect(parseShardSelector(new URLSearchParams())).toBeUndefined();
    expect(parse('')).toBeUndefined();
  });

  const range = (...args: string[]): string => `shardRange(${args.join(', ')})`;
  it.each([
    ['  ', 'empty shard selector is not allowed; omit the parameter for unfiltered lists'],
    [range(UID, `'0000000000000000'`, MIDDLE), `hexStart must have '0x' prefix, got "0000000000000000"`],
    [range(UID, LOW, `'8000000000000000'`), `hexEnd must have '0x' prefix, got "8000000000000000"`],
    [range(UID, `'0x'`, MIDDLE), "hexStart: hex value is required after '0x'"],
    [
      range('object.metadata.name', LOW, MIDDLE),
      'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace',
    ],
    [
      range('metadata.uid', LOW, MIDDLE),
      'unsupported field path "metadata.uid"; supported: object.metadata.uid, object.metadata.namespace',
    ],
    [
      `invalidFunc(${UID}, ${LOW}, ${MIDDLE})`,
      'unsupported function "invalidFunc"; only shardRange() and || are allowed',
    ],
    [
      range(UID, `'0x000000000000000000'`, MIDDLE),
      'hexStart: hex value too long (18 chars, max 17): "000000000000000000"',
    ],
    [range(UID, `'0x0g'`, MIDDLE), 'hexStart: invalid hex character "g" in "0x0g"'],
    [range(UID, `'0xAA'`, MIDDLE), 'hexStart: invalid hex character "A" in "0xAA"'],
    [
      `${range(UID, LOW, MIDDLE)} && ${range(UID, MIDDLE, HIGH)}`,
      'unsupported function "_&&_"; only shardRange() and || are allowed',
    ],
    [range(UID, '0', '8'), 'hexStart must be a string literal, got int64'],
    [range(UID, '-1', '8'), 'hexStart must be a string literal, got int64'],
    [range(UID, LOW, '1u'), 'hexEnd must be a string literal, got uint64'],
    [range(UID, LOW, 'null'), 'hexEnd must be a string literal, got structpb.NullValue'],
    [range(UID, LOW, `b'x'`), 'hexEnd must be a string literal, got []uint8'],
    [`${UID} > '0x0'`, 'unsupported function "_>_"; only shardRange() and || are allowed'],
    [`!${UID}`, 'unsupported function "!_"; only shardRange() and || are allowed'],
    [UID, 'unexpected expression kind 7; expected shardRange() call or || operator'],
    ['true', 'unexpected expression kind 5; expected shardRange() call or || operator'],
    ['[]', 'unexpected expression kind 4; expected shardRange() call or || operator'],
    [range(UID, LOW), 'shardRange() requires exactly 3 arguments, got 2'],
    [range(UID, 'hex(0)', MIDDLE), "hexStart must be a string literal (e.g. '0xff'), got expression kind 1"],
    [
      range(`'a'`, LOW, MIDDLE),
      'shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5',
    ],
    [
      `${range(UID, LOW, MIDDLE)} || ${range('object.metadata.namespace', MIDDLE, HIGH)}`,
      'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"',
    ],
    [
      range(UID, `'0x0'`, MIDDLE),
      'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)',
    ],
    [
      range(UID, LOW, `'0x10000000000000001'`),
      `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x10000000000000001"`,
    ],
    [
      range(UID, MIDDLE, MIDDLE),
      'shard range start 0x8000000000000000 must be less than end 0x8000000000000000',
    ],
    [range(UID, HIGH, LOW), 'shard range start 0x10000000000000000 must be less than end 0x0000000000000000'],
  ])('%j is refused with the words of the genuine server', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  it('is refused with the words of the parser of CEL if it is none', () => {
    expect(problemOf('shardRange(')).toMatch(/^CEL parse error: Syntax error: /);
  });
});
