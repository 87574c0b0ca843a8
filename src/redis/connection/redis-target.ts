import { InvalidOptionError } from '@rollkeeper/machinery/errors';

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** PEM files. Without `ca`, the authorities that Node.js trusts. */
export interface RedisTlsFiles {
  readonly ca?: string;
  /** Client certificate, with its key, for servers that require one. */
  readonly cert?: string;
  readonly key?: string;
  /** The name in the server's certificate, if it differs from the host. */
  readonly servername?: string;
}

export interface RedisLogin {
  /** ACL user; absent: `default`. */
  readonly username?: string;
  readonly password?: string;
}

/** A parsed Redis URL: where Redis is and how to log in. Holds passwords; use {@link describeRedis} for messages. */
export interface RedisTarget extends RedisLogin {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  /** The server, the Sentinels, or some nodes of a Cluster. */
  readonly addresses: readonly [RedisAddress, ...RedisAddress[]];
  readonly tls?: RedisTlsFiles;
  /** Always 0 in a Cluster. */
  readonly db: number;
  /** For `sentinel`: the name of the master that the Sentinels watch. */
  readonly master?: string;
  /** For `sentinel`: the login to the Sentinels themselves. */
  readonly sentinelLogin?: RedisLogin;
}

const URL_FORM =
  /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const ADDRESS_FORM = /^(?:\[([^\]]+)\]|([^:[\]\s]+))(?::(\d+))?$/;
const TLS_NAMES = ['ca', 'cert', 'key', 'servername'] as const;
const SENTINEL_NAMES = ['sentinel-username', 'sentinel-password'] as const;
const DEFAULT_PORT = { server: 6379, sentinel: 26_379, cluster: 6379 };

/**
 * Parses a Redis URL:
 *
 * - `redis://[user:password@]host[:6379][/db]`: one server
 * - `redis+sentinel://[user:password@]host[:26379],…/master[/db][?sentinel-username=…&sentinel-password=…]`
 * - `redis+cluster://[user:password@]host[:6379],…`
 *
 * Use `rediss` instead of `redis` for TLS, with optional `?ca=FILE&cert=FILE&key=FILE&servername=NAME`. Percent-encode
 * reserved characters in user and password, as in every URL.
 *
 * @param option name of the URL in errors
 * @throws InvalidOptionError, which never quotes the URL
 */
export function parseRedisUrl(url: string, option = 'redis-url'): RedisTarget {
  const fail = (problem: string): never => {
    throw new InvalidOptionError(option, problem);
  };
  const form = URL_FORM.exec(url);
  if (!form) {
    return fail('is not a Redis URL: redis://, rediss://, redis+sentinel:// or redis+cluster:// and a host');
  }
  const [, scheme, kindText, userInfo, hosts = '', path = '', query = ''] = form;
  const kind = (kindText ?? 'server') as RedisTarget['kind'];
  const addresses = hosts.split(',').map((text) => parseAddress(text, DEFAULT_PORT[kind], fail));
  if (kind === 'server' && addresses.length > 1)
    fail('names several hosts; write redis+sentinel or redis+cluster');
  const { master, db } = parsePath(kind, path, fail);
  const { tls, sentinelLogin } = parseQuery(kind, scheme === 'rediss', query, fail);
  return {
    kind,
    addresses: addresses as unknown as RedisTarget['addresses'],
    ...parseLogin(userInfo, fail),
    db,
    ...(master === undefined ? {} : { master }),
    ...(tls ? { tls } : {}),
    ...(sentinelLogin ? { sentinelLogin } : {}),
  };
}

/** @throws InvalidOptionError when `url` is not a Redis URL */
export function assertRedisUrl(url: string, option = 'redis-url'): void {
  parseRedisUrl(url, option);
}

/** The URL without user, password and files: safe for logs, errors and status. */
export function describeRedis(url: string): string {
  try {
    const { addresses, db, kind, master, tls } = parseRedisUrl(url);
    const scheme = `${tls ? 'rediss' : 'redis'}${kind === 'server' ? '' : `+${kind}`}`;
    const hosts = addresses
      .map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
      .join(',');
    const path = [...(master === undefined ? [] : [master]), ...(db === 0 ? [] : [db])].map(
      (part) => `/${part}`,
    );
    return `${scheme}://${hosts}${path.join('')}`;
  } catch {
    return 'a Redis URL that cannot be read';
  }
}

/**
 * Adds a CA file that was given separately.
 * @throws InvalidOptionError if the URL does not use TLS
 */
export function withRedisCaFile(url: string, caFile: string | undefined): string {
  if (caFile === undefined || caFile === '') return url;
  const { tls } = parseRedisUrl(url);
  if (!tls) throw new InvalidOptionError('redis-ca-file', 'needs a rediss:// URL');
  if (tls.ca !== undefined) return url;
  return `${url}${url.includes('?') ? '&' : '?'}ca=${encodeURIComponent(caFile)}`;
}

type Fail = (problem: string) => never;

function parseAddress(text: string, defaultPort: number, fail: Fail): RedisAddress {
  const [, v6, name, port] =
    ADDRESS_FORM.exec(text.trim()) ?? fail('has a host that is empty or not host:port');
  const number = port === undefined ? defaultPort : Number(port);
  if (number < 1 || number > 65_535) fail(`has the port ${number}`);
  return { host: v6 ?? name ?? '', port: number };
}

function parseLogin(userInfo: string | undefined, fail: Fail): RedisLogin {
  if (userInfo === undefined || userInfo === '') return {};
  const colon = userInfo.indexOf(':');
  const [user, password] = colon < 0 ? [userInfo, ''] : [userInfo.slice(0, colon), userInfo.slice(colon + 1)];
  return login(decode(user, fail), decode(password, fail));
}

function login(username: string, password: string): RedisLogin {
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) };
}

function parsePath(kind: RedisTarget['kind'], path: string, fail: Fail): { master?: string; db: number } {
  const parts =
    path === '' ? [] : path.split('/').filter((part, index, all) => part !== '' || index < all.length - 1);
  const master = kind === 'sentinel' ? decode(parts.shift() ?? '', fail) : undefined;
  if (master === '') fail('names no master: redis+sentinel://host,host/MASTER');
  const [dbText = '0', ...rest] = parts;
  if (!/^\d+$/.test(dbText) || rest.length > 0) fail('has a path that is not the number of a database');
  if (kind === 'cluster' && Number(dbText) !== 0) fail('a Redis Cluster has database 0 only');
  return { db: Number(dbText), ...(master === undefined ? {} : { master }) };
}

function parseQuery(
  kind: RedisTarget['kind'],
  isTls: boolean,
  query: string,
  fail: Fail,
): { tls?: RedisTlsFiles; sentinelLogin?: RedisLogin } {
  const values = new URLSearchParams(query);
  for (const name of values.keys()) {
    const isTlsName = (TLS_NAMES as readonly string[]).includes(name);
    const isSentinelName = (SENTINEL_NAMES as readonly string[]).includes(name);
    if (isTlsName && !isTls) fail(`${name} needs rediss://`);
    if (isSentinelName && kind !== 'sentinel') fail(`${name} needs redis+sentinel://`);
    if (!isTlsName && !isSentinelName) fail(`has an unknown parameter ${name}`);
  }
  const tls = Object.fromEntries(
    TLS_NAMES.flatMap((name) => (values.get(name) ? [[name, values.get(name)]] : [])),
  );
  const sentinelLogin = login(values.get('sentinel-username') ?? '', values.get('sentinel-password') ?? '');
  return {
    ...(isTls ? { tls: tls } : {}),
    ...(sentinelLogin.password === undefined ? {} : { sentinelLogin }),
  };
}

function decode(text: string, fail: Fail): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return fail('has a % that does not begin an encoded character');
  }
}
