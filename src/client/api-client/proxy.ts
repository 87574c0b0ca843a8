import { BlockList, isIP, isIPv6 } from 'node:net';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { isLoopbackAddress } from '@rollkeeper/machinery/loopback';

type Environment = Readonly<Record<string, string | undefined>>;

const SCHEMES = ['http:', 'https:', 'socks5:', 'socks5h:'];

/**
 * The proxy for a server from the environment's `HTTPS_PROXY` or `HTTP_PROXY` and `NO_PROXY`, upper or lower case, with
 * the rules of Go programs, so that a pod's environment has one meaning: loopback is never proxied; `NO_PROXY` lists
 * `*`, addresses, networks (CIDR), domains (`a.com` with its subdomains, `.a.com` only the subdomains), each with an
 * optional port. Source: golang.org/x/net/http/httpproxy.
 * @throws InvalidOptionError naming the variable
 */
export function proxyFromEnvironment(serverUrl: string, env: Environment): string | undefined {
  const server = new URL(serverUrl);
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = env[name] || env[name.toLowerCase()];
  if (!proxy) return undefined;
  const exempt = env['NO_PROXY'] || env['no_proxy'] || '';
  return isExempt(server, exempt) ? undefined : parseProxyUrl(proxy, name);
}

/**
 * Normalizes a proxy URL.
 * @param field for the error
 * @throws InvalidOptionError if it is not a proxy URL
 */
export function parseProxyUrl(text: string, field: string): string {
  // As in curl and Go, a bare host means http.
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (!url?.hostname || !SCHEMES.includes(url.protocol))
    throw new InvalidOptionError(field, `must be a URL with ${SCHEMES.map((s) => `${s}//`).join(', ')}`);
  // The proxy resolves names in either case.
  return url.href.replace(/^socks5h:/, 'socks5:').replace(/\/$/, '');
}

function isExempt(server: URL, list: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || isLoopbackAddress(host)) return true;
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const [network = '', bits] = entry.split('/');
  if (bits !== undefined) return isWithin(host, network, Number(bits));
  const [, name = entry, onlyPort] = /^(.*[^:]|\[.*\]):(\d+)$/.exec(isIPv6(entry) ? '' : entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const bare = name.replace(/^\[|\]$/g, '');
  if (isIP(bare)) return isWithin(host, bare, isIPv6(bare) ? 128 : 32);
  if (isIP(host)) return false;
  const domain = bare.replace(/^\*\./, '.');
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

function isWithin(host: string, network: string, bits: number): boolean {
  const family = isIPv6(network) ? 'ipv6' : 'ipv4';
  if (!isIP(host) || !isIP(network) || !(bits >= 0 && bits <= (family === 'ipv6' ? 128 : 32))) return false;
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return list.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}
