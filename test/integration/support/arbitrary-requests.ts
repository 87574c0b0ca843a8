import fc from 'fast-check';

/** A request as words; each character is a byte. */
export type Request = readonly string[];

const oneOf = (...words: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...words);
/** Few, so that commands meet what others left; now and then one of another type. */
const key = (type: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 12, arbitrary: oneOf(`${type}1`, `${type}2`, `${type}3`) },
    { weight: 1, arbitrary: oneOf('t1', 'h1', 'l1', 's1', 'z1', 'x1') },
  );
const anyKey = oneOf(
  ...['t', 'h', 'l', 's', 'z', 'x'].flatMap((type) => [`${type}1`, `${type}2`, `${type}3`]),
);
const text = fc.oneof(
  oneOf(
    'a',
    'b',
    'c',
    'ab',
    '',
    '0',
    '1',
    '-1',
    '10',
    '007',
    'é',
    '\x00\xff',
    'x'.repeat(70),
    '9007199254740993',
  ),
  fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
    maxLength: 5,
  }),
);
const name = oneOf('a', 'b', 'c', 'd', '1', '2', '\xff');
const integer = fc.oneof(
  oneOf('0', '1', '2', '-1', '-2', '5', '-100', '9223372036854775807', '01', 'x', '1.5', ''),
  fc.integer({ min: -5, max: 200 }).map(String),
);
const score = fc.oneof(
  oneOf(
    '0',
    '1',
    '-1',
    '1.5',
    '0.1',
    '1e20',
    '-inf',
    '+inf',
    'inf',
    'x',
    '3.0',
    '1e-7',
    '123456789012345680',
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer({ min: -3, max: 3 }).map(String),
);
const scoreEnd = fc.oneof(
  score,
  score.map((each) => `(${each}`),
);
const lexEnd = fc.oneof(
  oneOf('-', '+', 'x', ''),
  name.map((each) => `[${each}`),
  name.map((each) => `(${each}`),
);
const streamId = fc.oneof(
  fc.tuple(fc.nat(4), fc.nat(3)).map(([ms, seq]) => `${ms}-${seq}`),
  oneOf('0', '1', '3', 'x', '5-*', '6-*', '100'),
);
const streamEnd = fc.oneof(streamId, oneOf('-', '+', '(1-1', '(2-0', '(x'));
const some = (each: fc.Arbitrary<string>, most = 4): fc.Arbitrary<string[]> =>
  fc.array(each, { minLength: 1, maxLength: most });
const pairs = (first: fc.Arbitrary<string>, second: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.array(fc.tuple(first, second), { minLength: 1, maxLength: 3 }).map((all) => all.flat());
/** None, or one of these. */
const maybe = (...choices: readonly (readonly string[])[]): fc.Arbitrary<string[]> =>
  fc.constantFrom([], ...choices.map((choice) => [...choice]));

type Part = string | fc.Arbitrary<string | readonly string[]>;

function request(...parts: readonly Part[]): fc.Arbitrary<Request> {
  const words = parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part));
  return fc.tuple(...words).map((all) => all.flat());
}

const limit = fc.oneof(
  fc.constant([]),
  fc.tuple(integer, integer).map((both) => ['LIMIT', ...both]),
);
const scores = maybe(['WITHSCORES'], ['withscores']);
const trim = fc.oneof(
  fc.constant([]),
  fc.tuple(maybe(['='], ['~']), integer).map(([sign, length]) => ['MAXLEN', ...sign, length]),
  fc.tuple(maybe(['='], ['~']), streamId).map(([sign, id]) => ['MINID', ...sign, id]),
);

const TEXTS = [
  request(
    'SET',
    key('t'),
    text,
    maybe(['NX'], ['XX'], ['GET'], ['NX', 'GET'], ['KEEPTTL'], ['PX', '100000'], ['EX', '0'], ['FOO']),
  ),
  request('GET', key('t')),
  request('SETNX', key('t'), text),
  request('MGET', some(anyKey)),
  request('MSET', pairs(key('t'), text)),
  request('INCR', key('t')),
  request('DECR', key('t')),
  request('INCRBY', key('t'), integer),
  request('STRLEN', key('t')),
];
const HASHES = [
  request('HSET', key('h'), pairs(name, text)),
  request('HSET', key('h'), some(text, 3)),
  request('HMSET', key('h'), pairs(name, text)),
  request('HSETNX', key('h'), name, text),
  request('HGET', key('h'), name),
  request('HMGET', key('h'), some(name)),
  request('HGETALL', key('h')),
  request('HDEL', key('h'), some(name)),
  request('HEXISTS', key('h'), name),
  request('HLEN', key('h')),
  request('HINCRBY', key('h'), name, integer),
  request('HKEYS', key('h')),
  request('HVALS', key('h')),
  request('HSTRLEN', key('h'), name),
  request(
    'HSCAN',
    key('h'),
    '0',
    maybe(['COUNT', '1000'], ['MATCH', '[a-b]', 'COUNT', '1000'], ['MATCH', '*']),
  ),
];
const LISTS = [
  request('LPUSH', key('l'), some(text)),
  request('RPUSH', key('l'), some(text)),
  request('LPOP', key('l'), maybe(['2'], ['0'], ['-1'], ['x'])),
  request('RPOP', key('l'), maybe(['2'], ['0'])),
  request('LLEN', key('l')),
  request('LRANGE', key('l'), integer, integer),
  request('LINDEX', key('l'), integer),
  request('LSET', key('l'), integer, text),
  request('LREM', key('l'), integer, text),
  request('LTRIM', key('l'), integer, integer),
  request(
    'LPOS',
    key('l'),
    text,
    maybe(
      ['RANK', '2'],
      ['RANK', '-1'],
      ['COUNT', '0'],
      ['COUNT', '1', 'MAXLEN', '2'],
      ['RANK', '0'],
      ['FOO', '1'],
    ),
  ),
  request('RPOPLPUSH', key('l'), key('l')),
];
const SETS = [
  request('SADD', key('s'), some(text)),
  request('SREM', key('s'), some(text)),
  request('SCARD', key('s')),
  request('SISMEMBER', key('s'), text),
  request('SMEMBERS', key('s')),
];
const SORTED_SETS = [
  request(
    'ZADD',
    key('z'),
    maybe(['NX'], ['XX'], ['GT'], ['LT'], ['CH'], ['XX', 'GT', 'CH'], ['NX', 'XX'], ['GT', 'LT'], ['INCR']),
    pairs(score, name),
  ),
  request('ZADD', key('z'), '0', name),
  request('ZINCRBY', key('z'), score, name),
  request('ZREM', key('z'), some(name)),
  request('ZSCORE', key('z'), name),
  request('ZMSCORE', key('z'), some(name)),
  request('ZCARD', key('z')),
  request('ZRANK', key('z'), name),
  request('ZRANGE', key('z'), integer, integer, maybe(['REV'], []), scores),
  request('ZRANGE', key('z'), scoreEnd, scoreEnd, 'BYSCORE', maybe(['REV'], []), limit, scores),
  request('ZREVRANGE', key('z'), integer, integer, scores),
  request('ZRANGEBYSCORE', key('z'), scoreEnd, scoreEnd, scores, limit),
  request('ZREVRANGEBYSCORE', key('z'), scoreEnd, scoreEnd, scores, limit),
  request('ZCOUNT', key('z'), scoreEnd, scoreEnd),
  request('ZPOPMIN', key('z'), maybe(['2'], ['0'], ['-1'])),
  request('ZPOPMAX', key('z'), maybe(['2'])),
  request('ZREMRANGEBYSCORE', key('z'), scoreEnd, scoreEnd),
  request('ZREMRANGEBYRANK', key('z'), integer, integer),
  request('BZPOPMIN', 'full', '1'),
];
/** Sets whose members have one score: ranges of members are defined only for these. */
const FLAT_SETS = [
  request('ZADD', 'flat', '0', name),
  request('ZREM', 'flat', name),
  request('ZRANGEBYLEX', 'flat', lexEnd, lexEnd, limit),
  request('ZLEXCOUNT', 'flat', lexEnd, lexEnd),
];
const STREAMS = [
  request('XADD', key('x'), trim, streamId, pairs(name, text)),
  request('XADD', key('x'), 'NOMKSTREAM', streamId, pairs(name, text)),
  request('XADD', key('x'), streamId, some(name, 3)),
  request('XLEN', key('x')),
  request('XRANGE', key('x'), streamEnd, streamEnd, maybe(['COUNT', '2'], ['COUNT', '0'], ['FOO', '1'])),
  request('XREVRANGE', key('x'), streamEnd, streamEnd, maybe(['COUNT', '2'])),
  request(
    'XREAD',
    maybe(['COUNT', '2']),
    'STREAMS',
    key('x'),
    key('x'),
    streamId,
    fc.oneof(streamId, oneOf('$')),
  ),
  request('XDEL', key('x'), streamId),
  request('XTRIM', key('x'), trim),
];
const KEYS = [
  request('DEL', some(anyKey)),
  request('UNLINK', some(anyKey)),
  request('EXISTS', some(anyKey)),
  request('TYPE', anyKey),
  request('RENAME', anyKey, anyKey),
  request('PERSIST', anyKey),
  request(
    'PEXPIRE',
    anyKey,
    oneOf('1000000', '0', '-1', 'x', '9223372036854775807'),
    maybe(['NX'], ['XX'], ['GT'], ['LT'], ['FOO']),
  ),
  request('PEXPIREAT', anyKey, oneOf('1', '99999999999999')),
  request('EXPIRE', anyKey, oneOf('1000', '-1', '9223372036854775')),
  request('TTL', anyKey),
  request('KEYS', oneOf('*', 't*', '[hl]1', '?2', '[^t]*', 'x\\1')),
  request('SCAN', '0', 'COUNT', '1000', maybe(['MATCH', 'h*'], ['TYPE', 'zset'])),
  request('DBSIZE'),
  request('PING', maybe(['x'], ['x', 'y'])),
  request('ECHO', text),
  request('NOSUCH', some(text)),
  request('GET', 'a', 'b'),
];

/** A command that is in use, with arguments that are mostly right. */
export const arbitraryRequest: fc.Arbitrary<Request> = fc.oneof(
  ...[TEXTS, HASHES, LISTS, SETS, SORTED_SETS, FLAT_SETS, STREAMS, KEYS].map((group) => fc.oneof(...group)),
);

/** Replies to these have no order of their own. */
export const UNORDERED = new Set(['SMEMBERS', 'KEYS', 'SCAN', 'HGETALL', 'HKEYS', 'HVALS', 'HSCAN']);
