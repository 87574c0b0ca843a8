import * as z from 'zod';
import { InvalidOptionError } from '@rollkeeper/runtime';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { WebhookDefinition } from './define-webhook.js';

/** The address at which the API server finds the webhooks. */
export type WebhookAddress =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
  /** `https://hooks.example.com:9443`, as the API server can reach it. */
  | { readonly url: string };

/** Options of `webhookServer`. */
export interface WebhookServerOptions {
  readonly webhooks?: readonly WebhookDefinition[];
  readonly reachedAt: WebhookAddress;
  /** 0 lets the system choose. @default 9443 */
  readonly port?: number;
  /** @default all addresses: the API server calls from elsewhere */
  readonly host?: string;
  /**
   * `managed`: an authority and a certificate in a Secret, made, renewed and shared by the replicas. Files: those of
   * cert-manager or a mounted Secret, read again when they change.
   * @default 'managed'
   */
  readonly certificates?: 'managed' | WebhookCertificateFiles;
  /** The Secret of `managed`. @default the Service's namespace, or `default`; the operator's name and `-webhooks` */
  readonly secret?: { readonly namespace?: string; readonly name?: string };
  /**
   * The work of the leader on the configurations of the webhooks, and on definitions that are converted. `apply`: keeps
   * them as the webhooks say, under the operator's name. `patch`: puts the `caBundle` into those that are there.
   * `leave`: nothing.
   * @default 'apply'
   */
  readonly configurations?: 'apply' | 'patch' | 'leave';
  /** The name of the configurations. @default the operator's */
  readonly configurationName?: string;
}

/** Certificate and key in files of PEM. */
export interface WebhookCertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /**
   * The certificate of the authority, for `caBundle`. @default `caBundle` is left to others, cert-manager's injector
   * for example
   */
  readonly caFile?: string;
}

const word = z.string().min(1, 'must not be empty');
const port = z.int().min(0).max(65_535);
const schema = z.object({
  port: port.default(9443),
  host: word.default('0.0.0.0'),
  configurations: z.enum(['apply', 'patch', 'leave'], 'must be apply, patch or leave').default('apply'),
  configurationName: word.optional(),
  secret: z.object({ namespace: word.optional(), name: word.optional() }).default({}),
  certificates: z
    .union(
      [z.literal('managed'), z.object({ certFile: word, keyFile: word, caFile: word.optional() })],
      'must be managed, or name certFile and keyFile',
    )
    .default('managed'),
  reachedAt: z.union(
    [
      z.object({ service: z.object({ namespace: word, name: word, port: port.min(1).default(443) }) }),
      z.object({ url: z.url({ protocol: /^https$/ }) }),
    ],
    'must name a service with namespace and name, or an https url',
  ),
});

export type CompiledWebhookServerOptions = Readonly<z.infer<typeof schema>>;

/** @throws InvalidOptionError naming the option */
export function compileWebhookServerOptions(options: WebhookServerOptions): CompiledWebhookServerOptions {
  return Object.freeze(compileOptions(schema, options, 'webhooks'));
}

/** @throws InvalidOptionError for a second one of a name */
export function assertDistinct(webhooks: readonly WebhookDefinition[]): void {
  const names = webhooks.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new InvalidOptionError('webhook.name', `there are two webhooks named ${twice}`);
}

/** The names that the certificate is for. */
export function hostsOf(reachedAt: CompiledWebhookServerOptions['reachedAt']): readonly string[] {
  if ('url' in reachedAt) return [new URL(reachedAt.url).hostname.replace(/^\[(.*)\]$/, '$1')];
  const { name, namespace } = reachedAt.service;
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
}
