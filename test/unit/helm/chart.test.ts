import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OPENAPI_DOCUMENT } from '../../../src/rollkeeper/admin/server/openapi-document.js';
import { replicaOptionsOf } from '../../../src/rollkeeper/cli/controller.command.js';
import { createProgram } from '../../../src/rollkeeper/cli/program.js';
import { parseRedisUrl } from '../../../src/redis/connection/index.js';
import type { CompiledReplicaOptions } from '../../../src/rollkeeper/replica/replica.options.js';
import { serviceAccountOf } from '../../../src/rollkeeper/replica/controller-clients.js';
import { compileReplicaOptions, stopsWithinMs } from '../../../src/rollkeeper/replica/replica.options.js';
import { EVICTION_WEBHOOK_RULES, EvictedPods } from '../../../src/rollkeeper/replica/eviction-webhook.js';
import { defineWebhook } from '../../../src/webhooks/index.js';
import { validatingWebhooks } from '../../../src/webhooks/webhook-configurations.js';
import type { Binding } from '../support/chart.js';
import { Chart } from '../support/chart.js';
import { deploymentDefinition } from '../../support/deployment-definition.js';
import type { Rendered, Values } from '../support/helm.js';
import { CHART, helm } from '../support/helm.js';

/** How long a health check may take, seconds: docs/HEALTH.md. */
const CHECK_TIMEOUT_S = 1.5;
const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$/;

const ALWAYS = [
  'ClusterRole/rk-rollkeeper',
  'ClusterRoleBinding/rk-rollkeeper',
  'Deployment/rk-rollkeeper',
  'Pod/rk-rollkeeper-test',
  'Service/rk-rollkeeper-admin',
];

const EVICTIONS = [
  'Service/rk-rollkeeper-evictions',
  'ValidatingWebhookConfiguration/rk-rollkeeper-evictions',
];
const EVICTION_RIGHTS = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'].map(
  (kind) => `${kind}/rk-rollkeeper-evictions`,
);

/** A ValidatingWebhookConfiguration, as far as it matters here. */
interface Configuration {
  readonly webhooks: readonly {
    readonly name: string;
    readonly clientConfig: object;
    readonly rules: unknown;
    readonly namespaceSelector?: object;
  }[];
}

/** A class of kubernetes-models. */
type Model = new (data: unknown) => { validate(): void };

interface Switch {
  readonly name: string;
  readonly values: Values;
  /** Objects that there are beside what there always is. */
  readonly makes: readonly string[];
  /** Objects that are missing although they are there otherwise. */
  readonly lacks?: readonly string[];
}

const SECRET = 'Secret/rk-rollkeeper-admin-token';
const ACCOUNT = 'ServiceAccount/rk-rollkeeper';
const BUDGET = 'PodDisruptionBudget/rk-rollkeeper';
const BY_DEFAULT = [SECRET, ACCOUNT, BUDGET];

const OIDC = {
  ...{ auth: 'delegated', consoleUrl: 'https://rollkeeper.example.com' },
  oidc: { issuerUrl: 'https://login.example.com', clientId: 'console' },
};

/** Every switch of the values, on its own; the others are as by default. */
const SWITCHES: readonly Switch[] = [
  { name: 'nothing', values: {}, makes: BY_DEFAULT },
  { name: 'one replica', values: { replicaCount: 1 }, makes: [SECRET, ACCOUNT] },
  { name: 'two replicas', values: { replicaCount: 2 }, makes: BY_DEFAULT },
  { name: 'no service account', values: { serviceAccount: { create: false } }, makes: [SECRET, BUDGET] },
  {
    name: 'somebody else’s service account',
    values: { serviceAccount: { create: false, name: 'theirs' } },
    makes: [SECRET, BUDGET],
  },
  {
    name: 'a service account of another name',
    values: { serviceAccount: { name: 'mine' } },
    makes: [SECRET, 'ServiceAccount/mine', BUDGET],
  },
  { name: 'a token of one’s own', values: { admin: { existingSecret: 'theirs' } }, makes: [ACCOUNT, BUDGET] },
  {
    name: 'access by the cluster',
    values: { admin: { auth: 'delegated' } },
    makes: [...BY_DEFAULT, 'ClusterRoleBinding/rk-rollkeeper-auth-delegator'],
  },
  {
    name: 'other clusters',
    values: { admin: { clusters: { list: ['eu=https://eu', 'us=https://us'], caSecret: 'authority' } } },
    makes: BY_DEFAULT,
  },
  {
    name: 'an identity provider',
    values: { admin: OIDC },
    makes: [...BY_DEFAULT, 'ClusterRoleBinding/rk-rollkeeper-auth-delegator'],
  },
  {
    name: 'an identity provider whose users are impersonated',
    values: {
      admin: {
        ...OIDC,
        oidc: { ...OIDC.oidc, existingSecret: 'client', caSecret: 'authority', rights: 'impersonate' },
      },
    },
    makes: [
      ...BY_DEFAULT,
      'ClusterRoleBinding/rk-rollkeeper-auth-delegator',
      'ClusterRole/rk-rollkeeper-impersonate',
      'ClusterRoleBinding/rk-rollkeeper-impersonate',
    ],
  },
  {
    name: 'a certificate in a Secret',
    values: { admin: { tls: { existingSecret: 'certificate' } } },
    makes: BY_DEFAULT,
  },
  { name: 'no TLS', values: { admin: { tls: { enabled: false } } }, makes: BY_DEFAULT },
  { name: 'open metrics', values: { admin: { openMetrics: true } }, makes: BY_DEFAULT },
  {
    name: 'a scrape',
    values: { metrics: { serviceMonitor: { enabled: true } } },
    makes: [...BY_DEFAULT, 'ServiceMonitor/rk-rollkeeper'],
  },
  {
    name: 'a Lease',
    values: { leaderElection: { resourceLock: 'leases' } },
    makes: [...BY_DEFAULT, 'Role/rk-rollkeeper-leader-election', 'RoleBinding/rk-rollkeeper-leader-election'],
  },
  {
    name: 'no Redis',
    values: { coordination: 'leases', redis: { url: '' } },
    makes: [...BY_DEFAULT, 'Role/rk-rollkeeper-leader-election', 'RoleBinding/rk-rollkeeper-leader-election'],
  },
  {
    name: 'alert rules',
    values: { metrics: { rules: { enabled: true } } },
    makes: [...BY_DEFAULT, 'PrometheusRule/rk-rollkeeper'],
  },
  {
    name: 'the dashboard',
    values: { metrics: { dashboard: { enabled: true } } },
    makes: [...BY_DEFAULT, 'ConfigMap/rk-rollkeeper-dashboard'],
  },
  { name: 'a Redis in a Secret', values: { redis: { existingSecret: 'redis' } }, makes: BY_DEFAULT },
  {
    name: 'an authority for Redis',
    values: { redis: { url: 'rediss://redis', tls: { existingSecret: 'authority', caKey: 'root.pem' } } },
    makes: BY_DEFAULT,
  },
  {
    name: 'a client certificate for Redis',
    values: {
      redis: {
        url: 'rediss://redis?cert=/etc/rollkeeper/redis-tls/tls.crt&key=/etc/rollkeeper/redis-tls/tls.key',
        tls: { existingSecret: 'client', clientCertificate: true },
      },
    },
    makes: BY_DEFAULT,
  },
  {
    name: 'a network policy',
    values: { networkPolicy: { enabled: true } },
    makes: [...BY_DEFAULT, 'NetworkPolicy/rk-rollkeeper'],
  },
  {
    name: 'a webhook of evictions',
    values: { evictionWebhook: { enabled: true } },
    makes: [...BY_DEFAULT, ...EVICTIONS, ...EVICTION_RIGHTS],
  },
  {
    name: 'a webhook of evictions with a certificate from elsewhere',
    values: {
      evictionWebhook: { enabled: true, tls: { existingSecret: 'hooks', annotations: { a: 'b' } } },
    },
    makes: [...BY_DEFAULT, ...EVICTIONS],
  },
  {
    name: 'no wish where pods run',
    values: { affinity: null, topologySpreadConstraints: null },
    makes: BY_DEFAULT,
  },
  { name: 'spans', values: { otlp: { endpoint: 'http://otel:4318' } }, makes: BY_DEFAULT },
  { name: 'all controllers', values: { controllers: '*' }, makes: BY_DEFAULT },
  { name: 'keys that may take a minute to end', values: { drainTimeoutMs: 60_001 }, makes: BY_DEFAULT },
  { name: 'work on the leader alone', values: { reconcileOn: 'leader' }, makes: BY_DEFAULT },
  { name: 'some labels', values: { selector: 'shard notin (a, b)' }, makes: BY_DEFAULT },
  {
    name: 'some namespaces',
    values: { namespaces: ['a', 'b'] },
    // Here and in each of them.
    makes: [...BY_DEFAULT, ...[1, 2, 3].flatMap(() => ['Role/rk-rollkeeper', 'RoleBinding/rk-rollkeeper'])],
    lacks: ['ClusterRole/rk-rollkeeper', 'ClusterRoleBinding/rk-rollkeeper'],
  },
  {
    name: 'an account for each controller',
    values: { serviceAccount: { perController: true } },
    makes: [
      ...BY_DEFAULT,
      ...['Role/rk-rollkeeper-tokens', 'RoleBinding/rk-rollkeeper-tokens'],
      ...['deployment-controller', 'replicaset-controller'].flatMap((account) =>
        ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding'].map(
          (kind) => `${kind}/rk-rollkeeper-${account}`,
        ),
      ),
    ],
  },
];

/** The options that the program reads from the container's arguments and environment. @throws for an unknown one */
function optionsOf(chart: Chart): CompiledReplicaOptions {
  const [command, ...args] = chart.args;
  const parser = createProgram('main.js').commands.find((each) => each.name() === command);
  if (!parser) throw new Error(`there is no command ${command}`);
  const { operands, unknown } = parser.parseOptions(args);
  if (operands.length + unknown.length > 0)
    throw new Error(`not understood: ${[...operands, ...unknown].join(' ')}`);
  return compileReplicaOptions(replicaOptionsOf(parser.opts<Record<string, string>>(), chart.env));
}

/** The accounts that a replica with these options asks for tokens of. */
function controllerAccounts(options: CompiledReplicaOptions): string[] {
  if (!options['use-service-account-credentials']) return [];
  expect(options['service-account-namespace']).toBe('ops');
  return options.definitions.flatMap(
    (each) => serviceAccountOf(each, options['service-account-prefix']) ?? [],
  );
}

/** For one run of Helm per switch; a busy machine must not look like a fault. */
const HELM_WITHIN_MS = 120_000;

describe.skipIf(!helm)('the chart', () => {
  const charts = new Map<string, Chart>();
  const chartOf = (name: string): Chart => {
    const chart = charts.get(name);
    if (!chart) throw new Error(`no switch is named ${name}`);
    return chart;
  };
  const nothing = () => chartOf('nothing');

  beforeAll(() => {
    for (const { name, values } of SWITCHES) charts.set(name, new Chart(values));
  }, HELM_WITHIN_MS);

  it.each(SWITCHES)('makes with $name just what belongs to it', ({ lacks = [], makes, name }) => {
    const always = ALWAYS.filter((object) => !lacks.includes(object));
    expect(chartOf(name).names).toEqual([...always, ...makes].sort());
  });

  describe.each(SWITCHES)('with $name', ({ name }) => {
    it('starts the program with flags that it knows, and values that it takes', () => {
      const chart = chartOf(name);
      const options = optionsOf(chart);
      expect(options.identity).toBe('from-metadata.name');
      expect(options['admin-host']).toBe('0.0.0.0');
      expect(options['admin-port']).toBe(chart.container.ports?.[0]?.containerPort);
    });

    it('selects its own pods, and no other release’s', () => {
      const { objects, pods } = chartOf(name);
      const selectors = objects.flatMap(({ kind, spec }) => {
        const { selector } = (spec ?? {}) as { selector?: Record<string, unknown> };
        if (selector === undefined) return [];
        return [kind === 'Service' ? selector : selector['matchLabels']] as Record<string, string>[];
      });
      expect(selectors.length).toBeGreaterThanOrEqual(2);
      for (const selector of selectors) {
        expect(pods.labels).toMatchObject(selector);
        expect(selector['app.kubernetes.io/instance']).toBe('rk');
      }
    });

    it('probes pages that there are, on a port that there is, with time for a check', () => {
      const { container, pods } = chartOf(name);
      const { livenessProbe: live, readinessProbe: ready } = container;
      expect([live?.httpGet?.path, ready?.httpGet?.path]).toEqual(['/livez', '/readyz']);
      for (const probe of [live, ready]) {
        expect(OPENAPI_DOCUMENT.paths).toHaveProperty([probe?.httpGet?.path ?? '']);
        expect(container.ports?.map((port) => port.name)).toContain(probe?.httpGet?.port);
        expect(probe?.timeoutSeconds).toBeGreaterThan(CHECK_TIMEOUT_S);
        const speaksTls = optionsOf(chartOf(name)).adminTls.serves !== 'plain-http';
        expect(probe?.httpGet?.scheme).toBe(speaksTls ? 'HTTPS' : 'HTTP');
      }
      const stopSeconds = stopsWithinMs(optionsOf(chartOf(name))) / 1000;
      expect(pods.spec.terminationGracePeriodSeconds).toBeGreaterThan(stopSeconds + 5);
    });

    it('leads its Services to ports of the pods', () => {
      const chart = chartOf(name);
      const services = chart.all<{
        spec: { clusterIP?: string; ports: { port: number; targetPort: string }[] };
      }>('Service');
      for (const { clusterIP, ports } of services.map(({ spec }) => spec))
        for (const { port, targetPort } of ports) {
          const target = chart.container.ports?.find((each) => each.name === targetPort);
          // A Service without an address changes no ports.
          expect(target?.containerPort).toEqual(clusterIP === 'None' ? port : expect.any(Number));
        }
    });

    it('mounts the token where the program looks for it, for the user that reads it', () => {
      const chart = chartOf(name);
      const { spec } = chart.pods;
      const [mount] = chart.container.volumeMounts ?? [];
      const volume = spec.volumes?.find((each) => each.name === mount?.name);
      const [item] = volume?.secret?.items ?? [];
      expect(mount?.readOnly).toBe(true);
      expect(optionsOf(chart)['admin-token-file']).toBe(`${mount?.mountPath}/${item?.path}`);
      // Files of a Secret are readable for root and the group, and for no other user.
      expect(volume?.secret?.defaultMode).toBe(0o440);
      expect(spec.securityContext?.fsGroup).toBe(spec.securityContext?.runAsUser);
      const [secret] = chart.all<{ metadata: { name: string }; data: Record<string, string> }>('Secret');
      if (!secret) return;
      expect(volume?.secret?.secretName).toBe(secret.metadata.name);
      expect(secret.data).toHaveProperty(item?.key ?? '');
    });

    it('mounts whole folders, each where the program looks for its files', () => {
      const chart = chartOf(name);
      const options = optionsOf(chart);
      const wanted = [
        options['admin-token-file'],
        options['admin-tls-cert-file'],
        options['admin-tls-private-key-file'],
        options['oidc-client-secret-file'],
        options['console-clusters-ca-file'],
        options['oidc-ca-file'],
        options['eviction-webhook-tls-cert-file'],
        options['eviction-webhook-tls-private-key-file'],
        ...Object.values(options['redis-url'] ? (parseRedisUrl(options['redis-url']).tls ?? {}) : {}),
      ];
      const mounted = (chart.container.volumeMounts ?? []).flatMap(
        ({ mountPath, name: volumeName, ...mount }) => {
          // A file that is mounted by itself never changes.
          expect(mount).toEqual({ readOnly: true });
          const volume = chart.pods.spec.volumes?.find((each) => each.name === volumeName);
          expect(volume?.secret?.defaultMode).toBe(0o440);
          return (volume?.secret?.items ?? []).map(({ path }) => `${mountPath}/${path}`);
        },
      );
      expect(mounted.sort()).toEqual(wanted.filter((path) => path !== undefined).sort());
      expect(chart.container.volumeMounts).toHaveLength(chart.pods.spec.volumes?.length ?? 0);
    });

    it('gives rights to the accounts that the program uses, and none to anybody else', () => {
      const chart = chartOf(name);
      const accounts = [chart.pods.spec.serviceAccountName, ...controllerAccounts(optionsOf(chart))];
      for (const made of chart.all('ServiceAccount')) expect(accounts).toContain(made.metadata.name);
      const bindings = [...chart.all<Binding>('ClusterRoleBinding'), ...chart.all<Binding>('RoleBinding')];
      for (const { metadata, roleRef, subjects } of bindings) {
        const [subject, ...others] = subjects;
        expect(others).toEqual([]);
        expect(subject).toMatchObject({ kind: 'ServiceAccount', namespace: 'ops' });
        expect(accounts).toContain(subject?.name);
        expect(roleRef.apiGroup).toBe('rbac.authorization.k8s.io');
        if (roleRef.name.startsWith('system:')) continue;
        expect(chart.roleOf({ metadata, roleRef })).toBeDefined();
      }
    });

    it('says of every object whose it is', () => {
      for (const { kind, metadata } of chartOf(name).objects)
        expect(metadata.labels).toMatchObject({
          // The chart's own Service and budget must not take the pod of `helm test` for a replica.
          'app.kubernetes.io/name': kind === 'Pod' ? 'rollkeeper-test' : 'rollkeeper',
          'app.kubernetes.io/instance': 'rk',
          'app.kubernetes.io/managed-by': 'Helm',
        });
    });

    it('makes objects that fit their types', async () => {
      for (const object of chartOf(name).objects.filter(
        ({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com/'),
      )) {
        const path = `kubernetes-models/${object.apiVersion}/${object.kind}`;
        const model = (await import(/* @vite-ignore */ path)) as Record<string, Model>;
        const Kind = model[object.kind];
        if (!Kind) throw new Error(`there is no model of ${object.kind}`);
        expect(() => new Kind(object).validate()).not.toThrow();
      }
    });
  });

  it.each([
    { release: 'rk', fullname: 'rk-rollkeeper' },
    { release: 'rollkeeper', fullname: 'rollkeeper' },
    { release: 'my-rollkeeper-2', fullname: 'my-rollkeeper-2' },
    { release: 'r'.repeat(53), fullname: `${'r'.repeat(53)}-rollkeepe` },
    { release: `${'r'.repeat(52)}x`, fullname: `${'r'.repeat(52)}x-rollkeepe` },
  ])('gives names that Kubernetes takes to a release named $release', ({ fullname, release }) => {
    const values = {
      admin: { auth: 'delegated' },
      leaderElection: { resourceLock: 'leases' },
      metrics: { rules: { enabled: true }, dashboard: { enabled: true } },
      evictionWebhook: { enabled: true },
    };
    const { names, objects } = new Chart(values, { name: release });
    expect(names).toContain(`Deployment/${fullname}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { kind, metadata } of objects) {
      // A pod's name is made of the Deployment's, and the name of a Service is one label of a host name.
      if (kind === 'Service' || kind === 'Deployment') expect(metadata.name).toMatch(DNS_LABEL);
      for (const part of metadata.name.split('.')) expect(part).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
      for (const value of Object.values(metadata.labels ?? {})) expect(value).toMatch(LABEL_VALUE);
    }
  });

  describe('the token', () => {
    const tokenIn = (chart: Chart): string => {
      const { data } = chart.one<{ data: { token: string } }>('Secret');
      return Buffer.from(data.token, 'base64').toString();
    };

    it('is long, one word, and another one for each release', () => {
      const token = tokenIn(nothing());
      expect(token).toMatch(/^[A-Za-z0-9]{43}$/);
      expect(tokenIn(new Chart({}, { name: 'other' }))).not.toBe(token);
    });

    it('is read from the Secret and the key that the values name', () => {
      const values = { admin: { existingSecret: 'theirs', existingSecretKey: 'admin.token' } };
      const { pods } = new Chart(values);
      expect(pods.spec.volumes).toMatchObject([
        { secret: { secretName: 'theirs', items: [{ key: 'admin.token', path: 'token' }] } },
      ]);
    });

    it('has one key if it is ours, whatever key another Secret would have', () => {
      const chart = new Chart({ admin: { existingSecretKey: 'theirs' } });
      expect(chart.one('Secret')).toHaveProperty('data.token');
      expect(chart.pods.spec.volumes).toMatchObject([{ secret: { items: [{ key: 'token' }] } }]);
    });
  });

  describe('the admin port', () => {
    it('speaks TLS unless the values refuse it, with the certificate of a Secret where one is named', () => {
      expect(optionsOf(nothing()).adminTls).toEqual({ serves: 'self-made' });
      expect(optionsOf(chartOf('a certificate in a Secret')).adminTls).toEqual({
        serves: 'files',
        certFile: '/etc/rollkeeper/tls/tls.crt',
        keyFile: '/etc/rollkeeper/tls/tls.key',
      });
      expect(chartOf('a certificate in a Secret').pods.spec.volumes).toMatchObject([
        {},
        { secret: { secretName: 'certificate' } },
      ]);
      expect(optionsOf(chartOf('no TLS')).adminTls).toEqual({ serves: 'plain-http', inClear: true });
      const refused = new Chart({ admin: { tls: { enabled: false, existingSecret: 'certificate' } } });
      expect(optionsOf(refused).adminTls).toEqual({ serves: 'plain-http', inClear: true });
    });

    it('has a Service that says which protocol it is', () => {
      const protocolOf = (chart: Chart) =>
        chart.one<{ spec: { ports: { appProtocol: string }[] } }>('Service').spec.ports[0]?.appProtocol;
      expect(protocolOf(nothing())).toBe('https');
      expect(protocolOf(chartOf('no TLS'))).toBe('http');
    });

    it('is scraped as it can be: with its protocol, by its token unless the metrics are open', () => {
      const endpointOf = (admin: Values) => {
        const chart = new Chart({ admin, metrics: { serviceMonitor: { enabled: true } } });
        const monitor = chart.one<{
          spec: { selector: { matchLabels: object }; endpoints: [{ port: string }] };
        }>('ServiceMonitor');
        expect(chart.one('Service').metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
        return monitor.spec.endpoints[0];
      };
      const token = { type: 'Bearer', credentials: { name: 'rk-rollkeeper-admin-token', key: 'token' } };
      expect(endpointOf({})).toEqual({
        port: 'admin',
        path: '/metrics',
        interval: '30s',
        scheme: 'https',
        tlsConfig: { insecureSkipVerify: true },
        authorization: token,
      });
      expect(endpointOf({ tls: { enabled: false } })).toMatchObject({ scheme: 'http', authorization: token });
      expect(endpointOf({ openMetrics: true })).not.toHaveProperty('authorization');
      expect(endpointOf({ existingSecret: 'theirs', existingSecretKey: 'key' })).toMatchObject({
        authorization: { credentials: { name: 'theirs', key: 'key' } },
      });
    });
  });

  it('tells the program all that the values say', () => {
    const chart = new Chart({
      controllers: '*,-namespace',
      reconcileOn: 'leader',
      logLevel: 'debug',
      syncTimeoutMs: '90000,deployment=60000',
      admin: { auth: 'delegated', port: 9090, openMetrics: true },
      leaderElection: {
        ...{ resourceLock: 'leases', coordinated: true, healthToleranceMs: 20_000_000 },
        ...{ takeover: 'expiry', takeoverGraceMs: 250 },
      },
      kubeApi: { qps: 50, burst: 70 },
    });
    const { definitions, ...options } = optionsOf(chart);
    expect(options).toMatchObject({
      'admin-auth': 'delegated',
      'admin-port': 9090,
      'admin-open-metrics': true,
      'leader-elect-coordinated': true,
      'kube-api-qps': 50,
      'kube-api-burst': 70,
      'leader-elect-resource-lock': 'leases',
      'leader-elect-resource-name': 'rk-rollkeeper',
      'leader-elect-resource-namespace': 'ops',
      'leader-health-tolerance-ms': 20_000_000,
      'leader-takeover': 'expiry',
      'leader-takeover-grace-ms': 250,
      'log-level': 'debug',
      'reconcile-on': 'leader',
    });
    expect(definitions.map(({ name }) => name)).toEqual([
      'deployment',
      'experiments',
      'replicaset',
      'garbage-collector',
    ]);
    expect([...options.syncTimeoutMsOf.values()]).toEqual([60_000, 90_000, 90_000, 90_000]);
  });

  it('tells the program of the identity provider, and needs what that needs', () => {
    const chart = new Chart({
      admin: {
        ...OIDC,
        oidc: {
          ...{ ...OIDC.oidc, scopes: 'groups,offline_access', rights: 'impersonate' },
          ...{ usernameClaim: 'email', usernamePrefix: '-', groupsClaim: 'groups', groupsPrefix: 'oidc:' },
        },
      },
    });
    expect(optionsOf(chart)).toMatchObject({
      'console-url': 'https://rollkeeper.example.com',
      oidc: {
        ...{ clientId: 'console', rights: 'impersonate', scopes: ['openid', 'groups', 'offline_access'] },
        claims: {
          ...{ issuerUrl: 'https://login.example.com', usernameClaim: 'email', usernamePrefix: '-' },
          ...{ groupsClaim: 'groups', groupsPrefix: 'oidc:' },
        },
      },
    });
    for (const [missing, says] of [
      [{ auth: 'token' }, 'admin.auth=delegated'],
      [{ consoleUrl: '' }, 'admin.consoleUrl'],
      [{ oidc: { ...OIDC.oidc, clientId: '' } }, 'admin.oidc.clientId'],
    ] as const)
      expect(() => new Chart({ admin: { ...OIDC, ...missing } }).args).toThrow(says);
  });

  it('has a webhook of evictions that the API server finds, and the program knows', () => {
    const chart = new Chart({ evictionWebhook: { enabled: true, port: 9000 }, namespaces: ['a'] });
    const options = optionsOf(chart);
    const { reachedAt, configurationName } = options.evictionWebhook ?? {};
    const [webhook] = chart.one<Configuration>('ValidatingWebhookConfiguration', configurationName).webhooks;
    expect(reachedAt).toEqual({ service: { namespace: 'ops', name: 'rk-rollkeeper-evictions', port: 443 } });
    expect(webhook?.clientConfig).toEqual({
      service: {
        ...(reachedAt as object as { service: object }).service,
        path: `/validate/${webhook?.name}`,
      },
    });
    const known = defineWebhook(EvictedPods, { ...EVICTION_WEBHOOK_RULES, validate: () => undefined });
    expect(webhook).toMatchObject(validatingWebhooks([known], () => webhook?.clientConfig ?? {})[0] ?? {});
    expect(webhook?.namespaceSelector).toMatchObject({ matchExpressions: [{ values: ['a'] }] });
    expect(chart.container.ports).toContainEqual({ name: 'evictions', containerPort: 9000 });
    expect(options['eviction-webhook-port']).toBe(9000);
  });

  it('brings the definition where it is needed, and leaves it behind when it goes', () => {
    const definitionsWith = (deployments: Values) =>
      new Chart({ deployments }).all<Rendered & { metadata: { annotations: object }; spec: object }>(
        'CustomResourceDefinition',
      );
    expect(definitionsWith({})).toEqual([]);
    expect(definitionsWith({ api: 'rollkeeper.dev/v1', definition: false })).toEqual([]);
    const [definition, ...more] = definitionsWith({ api: 'apps/v1,rollkeeper.dev/v1' });
    expect(more).toEqual([]);
    expect(definition?.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(definition?.spec).toEqual(deploymentDefinition()['spec']);
    const chart = new Chart({ deployments: { api: 'rollkeeper.dev/v1' }, controllers: 'deployment' });
    expect(optionsOf(chart).definitions.map(({ name }) => name)).toEqual([
      'rollkeeper-deployment',
      'experiments',
    ]);
  });

  it('knows replicas on Redis and on a Lease apart, which would work side by side', () => {
    const annotation = (values: Values) => {
      const chart = new Chart(values);
      return chart.one<{ metadata: { annotations: Record<string, string> } }>('Deployment').metadata
        .annotations;
    };
    expect(annotation({})['rollkeeper.dev/scope']).toBe('');
    expect(annotation({ coordination: 'leases', redis: { url: '' } })['rollkeeper.dev/scope']).toBe(
      'coordination leases',
    );
  });

  it('tells the program its scope, word for word', () => {
    const chart = new Chart({ selector: 'shard notin (a, b)', namespaces: ['dev', 'ci'] });
    expect(optionsOf(chart).scope).toMatchObject({
      namespaces: ['ci', 'dev'],
      selector: 'shard notin (a, b)',
    });
    const { metadata, spec } = chart.one<{ metadata: { annotations: object }; spec: object }>('Deployment');
    expect(metadata.annotations).toEqual({
      'rollkeeper.dev/scope': 'namespaces ci,dev selector shard notin (a, b)',
    });
    expect(spec, 'what is there works on the same, as far as one can see').not.toHaveProperty('strategy');
  });

  it.each([{ namespaces: ['a'] }, { selector: 'a=b' }])(
    'refuses to limit what must see the whole cluster: %j',
    (scope) => {
      expect(() => new Chart({ ...scope, controllers: '*' })).toThrow('must see the whole cluster');
      expect(() => new Chart({ ...scope, controllers: '*,-garbage-collector,-namespace' })).not.toThrow();
    },
  );

  it('has the program’s own defaults where the two have the same option', () => {
    const chart = optionsOf(nothing());
    const program = compileReplicaOptions({ 'redis-url': 'redis://redis', identity: 'x' });
    for (const name of [
      'admin-auth',
      'admin-open-metrics',
      'key-prefix',
      'lease-duration-ms',
      'renew-deadline-ms',
      'retry-period-ms',
      'leader-elect-coordinated',
      'leader-elect-resource-lock',
      'leader-health-tolerance-ms',
      'leader-takeover',
      'leader-takeover-grace-ms',
      'log-level',
      'reconcile-on',
    ] as const)
      expect(chart[name]).toBe(program[name]);
  });

  it('finds Redis where the values say, and a password only in a Secret', () => {
    expect(nothing().container.env).toContainEqual({ name: 'REDIS_URL', value: 'redis://redis:6379' });
    const { container } = new Chart({ redis: { existingSecret: 'theirs', existingSecretKey: 'uri' } });
    expect(container.env?.filter(({ name }) => name === 'REDIS_URL')).toEqual([
      { name: 'REDIS_URL', valueFrom: { secretKeyRef: { name: 'theirs', key: 'uri' } } },
    ]);
  });

  it('sends spans only where they are wanted', () => {
    expect(nothing().env).not.toHaveProperty('OTEL_EXPORTER_OTLP_ENDPOINT');
    expect(chartOf('spans').env['OTEL_EXPORTER_OTLP_ENDPOINT']).toBe('http://otel:4318');
  });

  it('carries the alert rules and the dashboard as they are in its files', () => {
    const rules = chartOf('alert rules').one('PrometheusRule');
    expect(rules['spec']).toEqual(
      parse(readFileSync(join(CHART, 'alerts', 'rollkeeper.rules.yaml'), 'utf8')),
    );
    const { data } = chartOf('the dashboard').one<{ data: Record<string, string> }>('ConfigMap');
    expect(JSON.parse(data['rollkeeper.json'] ?? '')).toEqual(
      JSON.parse(readFileSync(join(CHART, 'dashboards', 'rollkeeper.json'), 'utf8')),
    );
  });

  it('names the runbooks, the console and the traces where the values say that they are', () => {
    const chart = new Chart({
      metrics: {
        rules: { enabled: true, runbookUrl: 'https://docs.example.com/ALERTS.html' },
        dashboard: {
          enabled: true,
          consoleUrl: 'https://console.example.com/',
          tracesUrl: 'https://jaeger.example.com',
        },
      },
    });
    const { spec } = chart.one<{
      spec: { groups: { rules: { annotations: { runbook_url: string } }[] }[] };
    }>('PrometheusRule');
    const urls = spec.groups.flatMap(({ rules }) => rules.map(({ annotations }) => annotations.runbook_url));
    expect(urls[0]).toBe('https://docs.example.com/ALERTS.html#rollkeepernoleader');
    expect(urls.every((url) => url.startsWith('https://docs.example.com/ALERTS.html#'))).toBe(true);
    const { data } = chart.one<{ data: Record<string, string> }>('ConfigMap');
    const dashboard = JSON.parse(data['rollkeeper.json'] ?? '') as {
      templating: { list: { name: string; query: string; current?: { value: string } }[] };
    };
    const given = dashboard.templating.list.flatMap(({ current, name, query }) =>
      current ? [[name, query, current.value]] : [],
    );
    expect(given).toEqual([
      ['console', 'https://console.example.com', 'https://console.example.com'],
      ['traces', 'https://jaeger.example.com', 'https://jaeger.example.com'],
    ]);
  });

  it('gives up no more than it needs: not root, no capabilities, nothing to write to', () => {
    const { container, pods } = nothing();
    expect(pods.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });
});
