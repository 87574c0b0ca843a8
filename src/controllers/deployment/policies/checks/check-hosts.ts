import { isIP } from 'node:net';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';

/** A host to which requests may go. */
export interface HostRule {
  /** In lower case, without a dot at its end; for a suffix what is behind the star, with its dot. */
  readonly host: string;
  readonly isSuffix: boolean;
  /** @default every port */
  readonly port?: number;
}

const LABEL = '[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?';
const HOST_NAME = new RegExp(String.raw`^${LABEL}(\.${LABEL})*$`);
const MOST_PORTS = 65_535;

/**
 * `prometheus.monitoring:9090, *.example.com, [::1]`. There is no entry that allows every host: the author of a ConfigMap
 * chooses the URL, and the controller may reach what its users may not.
 * @throws InvalidOptionError naming the entry
 */
export function parseHostRules(list: string, option: string): readonly HostRule[] {
  const entries = list.split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '').map((entry) => parseHostRule(entry, option));
}

function parseHostRule(entry: string, option: string): HostRule {
  const [, host = '', portText] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(entry.toLowerCase()) ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  const refuse = (why: string) => new InvalidOptionError(option, `"${entry}" ${why}`);
  if (host === '' || (port !== undefined && (port === 0 || port > MOST_PORTS)))
    throw refuse('is not HOST, HOST:PORT or *.SUFFIX');
  const isSuffix = host.startsWith('*.');
  const name = isSuffix ? host.slice(2) : host;
  const text = name.replace(/\.$/, '');
  if (text.startsWith('[')) {
    const address = text.slice(1, -1);
    if (isSuffix || isIP(address) !== 6) throw refuse('is not an address');
    return { host: new URL(`http://${text}`).hostname, isSuffix, port };
  }
  if (!HOST_NAME.test(text)) throw refuse('is not the name of a host');
  // `http://2130706433` and `http://0x7f.1` are addresses too: what a request goes to is compared in its canonical form.
  const { hostname } = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : { hostname: '' };
  if (hostname !== text || (isSuffix && /^\d+$/.test(text.split('.').at(-1) ?? '')))
    throw refuse('is neither the name of a host nor an address in its usual form');
  return { host: isSuffix ? `.${text}` : text, isSuffix, port };
}

/**
 * Why no request may go there; `undefined` where it may.
 * @param option the list of the rules, as messages name it
 */
export function hostProblem(
  url: string,
  rules: readonly HostRule[],
  option = '--check-hosts',
): string | undefined {
  if (!URL.canParse(url)) return `the request's URL cannot be read`;
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/\.$/, '');
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  const isAllowed = rules.some(
    (rule) =>
      (rule.isSuffix ? host.endsWith(rule.host) && host.length > rule.host.length : host === rule.host) &&
      (rule.port === undefined || rule.port === number),
  );
  return isAllowed ? undefined : `${host}:${number} is not one of the hosts that ${option} allows`;
}
