import { describe, expect, it } from 'vitest';
import { Chart } from '../unit/support/chart.js';
import type { Values } from '../unit/support/helm.js';
import { defaultValues, helm, valueSchema } from '../unit/support/helm.js';

describe.skipIf(!helm)('each value of the chart does something:', () => {
  /** Values that matter only where another one says so. */
  const WHERE: Readonly<Record<string, Values>> = {
    'deployments.definition': { deployments: { api: 'rollkeeper.dev/v1' } },
    'redis.existingSecretKey': { redis: { existingSecret: 'theirs' } },
    'admin.existingSecretKey': { admin: { existingSecret: 'theirs' } },
    'kubeApi.burst': { kubeApi: { qps: 5 } },
    'redis.tls.existingSecret': { redis: { url: 'rediss://redis' } },
    'redis.tls.caKey': { redis: { url: 'rediss://redis', tls: { existingSecret: 'theirs' } } },
    'redis.tls.clientCertificate': { redis: { existingSecret: 'url', tls: { existingSecret: 'theirs' } } },
    'rolloutChecks.signing.existingSecretKey': { rolloutChecks: { signing: { existingSecret: 'theirs' } } },
    'cloudEvents.signing.existingSecret': { cloudEvents: { sinks: ['https://sink'] } },
    'cloudEvents.signing.existingSecretKey': {
      cloudEvents: { sinks: ['https://sink'], signing: { existingSecret: 'theirs' } },
    },
    'admin.clusters.caSecret': { admin: { clusters: { list: ['eu=https://eu'] } } },
    'admin.clusters.caKey': { admin: { clusters: { list: ['eu=https://eu'], caSecret: 'theirs' } } },
    'admin.oidc.existingSecretKey': { admin: { oidc: { existingSecret: 'theirs' } } },
    'admin.oidc.caKey': { admin: { oidc: { caSecret: 'theirs' } } },
    'admin.oidc.impersonate.users': { admin: { oidc: { rights: 'impersonate' } } },
    'admin.oidc.impersonate.groups': { admin: { oidc: { rights: 'impersonate' } } },
  };
  /** By the part of the chart that a value is in: what this part needs. */
  const PARTS: readonly (readonly [prefix: string, values: Values])[] = [
    ['networkPolicy.', { networkPolicy: { enabled: true }, otlp: { endpoint: 'http://otel:4318' } }],
    [
      'admin.oidc.',
      {
        admin: {
          auth: 'delegated',
          consoleUrl: 'https://console',
          oidc: { issuerUrl: 'https://login', clientId: 'console' },
        },
      },
    ],
  ];
  const defaults = defaultValues();
  const leaves = leavesOf(defaults);

  /** The token is another one each time. */
  const rendered = (values: Values) => new Chart(values).objects.filter(({ kind }) => kind !== 'Secret');

  it.each(leaves)('%s', (path, value) => {
    const [, part = {}] = PARTS.find(([prefix]) => path.startsWith(prefix)) ?? [];
    const where = merged(WHERE[path] ?? {}, part);
    const before = path.endsWith('.enabled') ? {} : merged(switchedOn(path, defaults), where);
    const changed = merged(before, valueAt(path, another(path, value)));
    expect(rendered(changed)).not.toEqual(rendered(before));
  });
});

/** Parts that are off by default, and that the value is in. */
function switchedOn(path: string, defaults: Values): Values {
  const names = path.split('.');
  return names.slice(0, -1).reduce((on, _, index) => {
    const at = names.slice(0, index + 1);
    const part = at.reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], defaults);
    const isOff = isRecord(part) && part['enabled'] === false;
    return isOff ? merged(on, valueAt([...at, 'enabled'].join('.'), true)) : on;
  }, {} as Values);
}

function leavesOf(values: Values, prefix = ''): [path: string, value: unknown][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = prefix + name;
    const isBranch = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
    // A list or a map that is passed on whole.
    if (!isBranch || Array.isArray(value) || path.endsWith('resources'))
      return [[path, value] as [string, unknown]];
    return leavesOf(value as Values, `${path}.`);
  });
}

/** A value that the schema takes and that is not the default. */
function another(path: string, value: unknown): unknown {
  const { enum: choices, examples, items } = valueSchema(path);
  if (examples) return examples[0];
  if (choices) return choices.find((choice) => choice !== value);
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return 'another';
  if (!Array.isArray(value)) return { another: 'value' };
  return [items?.type === 'string' ? 'another' : { key: 'another' }];
}

function valueAt(path: string, value: unknown): Values {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Values;
}

function merged(a: Values, b: Values): Values {
  const result: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const existing = result[name];
    const both = isRecord(existing) && isRecord(value);
    result[name] = both ? merged(existing, value) : value;
  }
  return result;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
