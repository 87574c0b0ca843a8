import type { HostRule } from '@rollkeeper/controllers/deployment';
import { SECRET_HOSTS, decodeKey, hostProblem, parseHostRules } from '@rollkeeper/controllers/deployment';
import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Secret } from '@rollkeeper/machinery/kubernetes';
import type { NotifiedEvent } from './notification.js';
import { NOTIFIED } from './notification.js';

/** The services that messages are written for. */
export const SERVICES = [
  'slack',
  'teams',
  'discord',
  'google-chat',
  'pagerduty',
  'email',
  'webhook',
] as const;

export type ServiceName = (typeof SERVICES)[number];

/** A receiver of notifications, as its Secret says. It holds secrets: no log, Event or error has a field of it but the service. */
export interface Channel {
  readonly service: ServiceName;
  readonly url: string;
  readonly events: ReadonlySet<NotifiedEvent>;
  /** PagerDuty: the integration key. */
  readonly routingKey?: string;
  /** E-mail. */
  readonly from?: string;
  /** E-mail: addresses separated by commas. */
  readonly to?: string;
  /** Webhook: the body, with `{{title}}` and other fields in it. @default a JSON object of all fields */
  readonly template?: string;
  /** Webhook. @default application/json */
  readonly contentType: string;
  /** Webhook: the header of that name. */
  readonly authorization?: string;
  /** Webhook: signs what is sent, by Standard Webhooks. */
  readonly signingKey?: Buffer;
}

/** Why a channel cannot be used. The message is shown to users of the namespace, and has no value of the Secret. */
export class ChannelError extends Error {}

const PAGERDUTY = 'https://events.pagerduty.com/v2/enqueue';
/** An alert is opened, changed and resolved; a start or a step is none. */
const OF_PAGERDUTY: readonly NotifiedEvent[] = ['failed', 'rolled-back', 'complete'];
/** The longest value of a Secret that is used, characters. */
const LONGEST_VALUE = 16 * 1024;
/** The addresses of a mail, characters: what reads them takes longer than their length. */
const LONGEST_ADDRESSES = 1000;
const SMTP_PORTS: Readonly<Record<string, string>> = { 'smtp:': '587', 'smtps:': '465' };

/**
 * Reads the Secret of a channel, and checks that requests may go where it leads: by the operator's list, and by the annotation on
 * the Secret itself, so that no other Secret of the namespace can be named for one.
 * @param hosts of `--notification-hosts`; undefined where they are not known, and the Secret's annotation decides alone
 * @throws ChannelError
 */
export function readChannel(secret: DeepReadonly<Secret>, hosts: readonly HostRule[] | undefined): Channel {
  const value = (key: string): string | undefined => valueOf(secret, key);
  const service = SERVICES.find((each) => each === value('service'));
  if (!service) throw problem(secret, `its key service is not one of ${SERVICES.join(', ')}`);
  const url = value('url') ?? (service === 'pagerduty' ? PAGERDUTY : undefined);
  if (url === undefined) throw problem(secret, 'it has no key url');
  assertMayGo(secret, { service, url }, hosts);
  const [routingKey, from, to] = [value('routing-key'), value('from'), value('to')];
  if (service === 'pagerduty' && routingKey === undefined) throw problem(secret, 'it has no key routing-key');
  if (service === 'email') assertAddresses(secret, from, to);
  const signingKey = value('signing-key');
  return {
    ...{ service, url, routingKey, from, to },
    events: eventsOf(secret, service),
    template: value('template'),
    contentType: value('content-type') ?? 'application/json',
    authorization: value('authorization'),
    signingKey: signingKey === undefined ? undefined : keyOf(secret, signingKey),
  };
}

/** @throws ChannelError, which names the host and nothing else of the URL */
function assertMayGo(
  secret: DeepReadonly<Secret>,
  { service, url }: Pick<Channel, 'service' | 'url'>,
  hosts: readonly HostRule[] | undefined,
): void {
  const parsed = URL.parse(url);
  const protocols = service === 'email' ? ['smtp:', 'smtps:'] : ['https:', 'http:'];
  if (!parsed || !protocols.includes(parsed.protocol) || parsed.hostname === '')
    throw problem(secret, `its key url is no URL of ${protocols.map((each) => `${each}//`).join(' or ')}`);
  if (service !== 'email' && (parsed.username !== '' || parsed.password !== ''))
    throw problem(secret, 'its key url has a user or a password');
  const { hostname, port, protocol } = parsed;
  const isMail = service === 'email';
  const target = isMail ? `http://${hostname}:${port || SMTP_PORTS[protocol]}` : url;
  const refused = hosts && hostProblem(target, hosts, '--notification-hosts');
  if (refused !== undefined) throw problem(secret, refused);
  let marked: readonly HostRule[];
  try {
    marked = parseHostRules(secret.metadata.annotations?.[SECRET_HOSTS] ?? '', SECRET_HOSTS);
  } catch (error) {
    throw problem(secret, errorMessage(error));
  }
  if (hostProblem(target, marked) !== undefined)
    throw problem(secret, `its annotation ${SECRET_HOSTS} does not have the host ${hostname}`);
}

/** @throws ChannelError */
function assertAddresses(
  secret: DeepReadonly<Secret>,
  from: string | undefined,
  to: string | undefined,
): void {
  if (from === undefined || to === undefined) throw problem(secret, 'it has no keys from and to');
  if (Math.max(from.length, to.length) > LONGEST_ADDRESSES)
    throw problem(secret, `its key from or to has more than ${LONGEST_ADDRESSES} characters`);
}

function eventsOf(secret: DeepReadonly<Secret>, service: ServiceName): ReadonlySet<NotifiedEvent> {
  const text = valueOf(secret, 'events');
  if (text === undefined) return new Set(service === 'pagerduty' ? OF_PAGERDUTY : NOTIFIED);
  const names = text.split(',').map((name) => name.trim());
  const known = NOTIFIED.filter((event) => names.includes(event));
  if (known.length !== new Set(names).size)
    throw problem(secret, `its key events has a name that is not one of ${NOTIFIED.join(', ')}`);
  return new Set(known);
}

function keyOf(secret: DeepReadonly<Secret>, text: string): Buffer {
  try {
    return decodeKey(text);
  } catch {
    throw problem(secret, 'its key signing-key is too short');
  }
}

function valueOf({ data = {} }: DeepReadonly<Secret>, key: string): string | undefined {
  const encoded = Object.hasOwn(data, key) ? data[key] : undefined;
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8').trim();
  return text === '' || text.length > LONGEST_VALUE ? undefined : text;
}

function problem({ metadata }: DeepReadonly<Secret>, why: string): ChannelError {
  return new ChannelError(`Secret ${metadata.name} is no channel: ${why}`);
}
