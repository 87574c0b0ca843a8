import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../machinery/errors/index.js';
import type { RedisTarget } from './redis-target.js';
import { describeRedis, parseRedisUrl, withRedisCaFile } from './redis-target.js';

const good: { url: string; target: RedisTarget; shown: string }[] = [
  {
    url: 'redis://localhost',
    target: { kind: 'server', addresses: [{ host: 'localhost', port: 6379 }], db: 0 },
    shown: 'redis://localhost:6379',
  },
  {
    url: 'redis://:secret@10.0.0.1:7000/3',
    target: { kind: 'server', addresses: [{ host: '10.0.0.1', port: 7000 }], password: 'secret', db: 3 },
    shown: 'redis://10.0.0.1:7000/3',
  },
  {
    url: 'rediss://keeper:p%40ss%2Fw%3Ard@[::1]:6390/?ca=/etc/ca.pem&servername=redis.internal',
    target: {
      kind: 'server',
      addresses: [{ host: '::1', port: 6390 }],
      username: 'keeper',
      password: 'p@ss/w:rd',
      tls: { ca: '/etc/ca.pem', servername: 'redis.internal' },
      db: 0,
    },
    shown: 'rediss://[::1]:6390',
  },
  {
    url: 'redis+sentinel://user:pw@a:1,b,c:3/main/2?sentinel-username=s&sentinel-password=t',
    target: {
      kind: 'sentinel',
      addresses: [
        { host: 'a', port: 1 },
        { host: 'b', port: 26_379 },
        { host: 'c', port: 3 },
      ],
      username: 'user',
      password: 'pw',
      master: 'main',
      db: 2,
      sentinelLogin: { username: 's', password: 't' },
    },
    shown: 'redis+sentinel://a:1,b:26379,c:3/main/2',
  },
  {
    url: 'rediss+cluster://a,b:7001',
    target: {
      kind: 'cluster',
      addresses: [
        { host: 'a', port: 6379 },
        { host: 'b', port: 7001 },
      ],
      db: 0,
      tls: {},
    },
    shown: 'rediss+cluster://a:6379,b:7001',
  },
];

const bad: { url: string; problem: RegExp }[] = [
  { url: 'http://localhost', problem: /is not a Redis URL/ },
  { url: '', problem: /is not a Redis URL/ },
  { url: 'redis://', problem: /host/ },
  { url: 'redis://a,b', problem: /several hosts/ },
  { url: 'redis://a:70000', problem: /port 70000/ },
  { url: 'redis://a/main', problem: /number of a database/ },
  { url: 'redis://:a%zz@a', problem: /%/ },
  { url: 'redis+sentinel://a,b', problem: /names no master/ },
  { url: 'redis+cluster://a/1', problem: /database 0/ },
  { url: 'redis://a?ca=/ca.pem', problem: /ca needs rediss/ },
  { url: 'redis://a?sentinel-password=x', problem: /needs redis\+sentinel/ },
  { url: 'redis://a?timeout=1', problem: /unknown parameter timeout/ },
];

describe('a Redis URL', () => {
  it.each(good)('$url says where Redis is and how to get in', ({ target, url }) => {
    expect(parseRedisUrl(url)).toEqual(target);
  });

  it.each(good)('$url is shown as $shown', ({ shown, url }) => {
    expect(describeRedis(url)).toBe(shown);
  });

  it.each(bad)('$url is refused', ({ problem, url }) => {
    expect(() => parseRedisUrl(url, 'REDIS_URL')).toThrow(problem);
    expect(() => parseRedisUrl(url, 'REDIS_URL')).toThrow(InvalidOptionError);
    expect(() => parseRedisUrl(url, 'REDIS_URL')).toThrow(/^REDIS_URL: /);
  });

  it('gives back every user and password that was encoded', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (username, password) => {
        fc.pre(username.isWellFormed() && password.isWellFormed());
        const url = `redis://${encodeURIComponent(username)}:${encodeURIComponent(password)}@h`;
        expect(parseRedisUrl(url)).toMatchObject({ username, password });
      }),
    );
  });

  it('never shows its password, in a description or an error', () => {
    const mangle = fc.constantFrom('', ',', '/x', '?y=1', ':99999', '%');
    fc.assert(
      fc.property(mangle, mangle, (before, after) => {
        const url = `redis://user:hunter2@${before}h${after}`;
        expect(describeRedis(url)).not.toContain('hunter2');
        try {
          parseRedisUrl(url);
        } catch (error) {
          expect(String(error)).not.toContain('hunter2');
        }
      }),
    );
  });
});

describe('a CA file named apart from the URL', () => {
  it('becomes a part of it', () => {
    expect(parseRedisUrl(withRedisCaFile('rediss://h', '/a b.pem')).tls).toEqual({ ca: '/a b.pem' });
    expect(parseRedisUrl(withRedisCaFile('rediss://h?servername=n', '/ca')).tls?.ca).toBe('/ca');
  });

  it('gives way to the one in the URL', () => {
    expect(parseRedisUrl(withRedisCaFile('rediss://h?ca=/mine', '/ca')).tls?.ca).toBe('/mine');
  });

  it('is refused without TLS', () => {
    expect(() => withRedisCaFile('redis://h', '/ca')).toThrow('redis-ca-file: needs a rediss:// URL');
  });
});
