import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { Chart } from '../support/chart.js';
import type { Rendered, ValueSchema, Values } from '../support/helm.js';
import { CHART, defaultValues, helm, helmEnv, render, valueSchema } from '../support/helm.js';

const OWN = { 'app.kubernetes.io/name': 'rollkeeper', 'app.kubernetes.io/instance': 'rk' };

interface Constraint {
  readonly topologyKey: string;
  readonly whenUnsatisfiable?: string;
  readonly labelSelector: object;
}
interface Policy extends Rendered {
  readonly spec: {
    readonly podSelector: object;
    readonly policyTypes: readonly string[];
    readonly ingress: readonly { readonly from: readonly object[]; readonly ports: readonly object[] }[];
    readonly egress: readonly { readonly to?: readonly object[]; readonly ports: readonly object[] }[];
  };
}

/** The pods' spec with every field that there is, whether or not the project's own types have it. */
const podSpecOf = (values: Values = {}) => new Chart(values).pods.spec as unknown as Record<string, unknown>;
const constraintsOf = (values: Values = {}) =>
  podSpecOf(values)['topologySpreadConstraints'] as Constraint[] | undefined;
const tcp = (port: number) => ({ protocol: 'TCP', port });

describe.skipIf(!helm)('the values of the chart', () => {
  it('pass helm’s own strict look', () => {
    const lint = spawnSync(
      helm ?? 'helm',
      ['lint', '--strict', CHART, '--set', 'redis.url=redis://redis:6379'],
      {
        encoding: 'utf8',
        env: helmEnv('/nonexistent'),
      },
    );
    expect(lint.stdout).toContain('1 chart(s) linted, 0 chart(s) failed');
    expect(lint.stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
    expect(lint.status).toBe(0);
  });

  it('choose no Redis: without one the chart says what it needs', () => {
    expect(() => render({ redis: { url: '' } })).toThrow('redis.url or redis.existingSecret is needed');
    expect(defaultValues()['redis']).toMatchObject({ url: '' });
  });

  describe('for the place of the replicas', () => {
    it('is on different nodes and in different zones where there are such, and anywhere else otherwise', () => {
      expect(podSpecOf()['affinity']).toEqual({
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 100,
              podAffinityTerm: {
                topologyKey: 'kubernetes.io/hostname',
                labelSelector: { matchLabels: OWN },
              },
            },
          ],
        },
      });
      expect(constraintsOf()).toEqual(
        ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
          maxSkew: 1,
          topologyKey,
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: OWN },
          matchLabelKeys: ['pod-template-hash'],
        })),
      );
    });

    it('is as the values say, word for word, with nothing of the chart’s', () => {
      const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
      expect(podSpecOf({ affinity })['affinity']).toEqual(affinity);
      const strict = {
        topologyKey: 'rack',
        maxSkew: 2,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { a: 'b' } },
      };
      expect(constraintsOf({ topologySpreadConstraints: [strict] })).toEqual([strict]);
    });

    it('is about the chart’s pods where a constraint does not say whose', () => {
      const constraint = { topologyKey: 'rack', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' };
      expect(constraintsOf({ topologySpreadConstraints: [constraint] })).toEqual([
        { ...constraint, labelSelector: { matchLabels: OWN } },
      ]);
    });

    it('is nobody’s concern after null', () => {
      const spec = podSpecOf({ affinity: null, topologySpreadConstraints: null });
      expect(spec).not.toHaveProperty('affinity');
      expect(spec).not.toHaveProperty('topologySpreadConstraints');
    });
  });

  describe('for the pods', () => {
    it('arrive where they belong', () => {
      const chart = new Chart({
        imagePullSecrets: [{ name: 'registry' }],
        priorityClassName: 'system-cluster-critical',
        podAnnotations: { a: 'b' },
        podLabels: { team: 'platform' },
        workers: 'deployment=3,replicaset=7',
        extraArgs: ['--recent-traces=5', '--log-level=warn'],
        extraEnvFrom: [{ configMapRef: { name: 'settings' } }],
        extraVolumes: [{ name: 'extra', emptyDir: {} }],
        extraVolumeMounts: [{ name: 'extra', mountPath: '/extra' }],
      });
      expect(chart.pods.spec).toMatchObject({
        imagePullSecrets: [{ name: 'registry' }],
        priorityClassName: 'system-cluster-critical',
      });
      expect(chart.pods.annotations).toEqual({ a: 'b' });
      expect(chart.pods.labels).toEqual({ ...OWN, team: 'platform' });
      expect(chart.args).toContain('--workers=deployment=3,replicaset=7');
      // The last one counts.
      expect(chart.args.slice(-2)).toEqual(['--recent-traces=5', '--log-level=warn']);
      expect(chart.container).toMatchObject({ envFrom: [{ configMapRef: { name: 'settings' } }] });
      expect(chart.pods.spec.volumes).toContainEqual({ name: 'extra', emptyDir: {} });
      expect(chart.pods.spec.volumes).toHaveLength(2);
      expect(chart.container.volumeMounts).toContainEqual({ name: 'extra', mountPath: '/extra' });
      expect(chart.container.volumeMounts).toHaveLength(2);
    });

    it('leave the labels that the chart selects them by', () => {
      const { labels } = new Chart({ podLabels: { 'app.kubernetes.io/instance': 'theirs' } }).pods;
      expect(labels).toEqual(OWN);
    });

    it('change single lines of the security contexts, and take lines out with null', () => {
      const { container, pods } = new Chart({
        podSecurityContext: { runAsUser: null, fsGroup: null, supplementalGroups: [5] },
        securityContext: { privileged: false },
      });
      expect(pods.spec.securityContext).toEqual({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
        supplementalGroups: [5],
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
        privileged: false,
      });
    });

    it('give variables after the pod’s name and before those that may use them', () => {
      const password = { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'theirs', key: 'password' } } };
      const { container } = new Chart({
        extraEnv: [password],
        redis: { url: 'redis://:$(PASSWORD)@redis' },
      });
      expect(container.env?.map(({ name }) => name)).toEqual(['POD_NAME', 'PASSWORD', 'REDIS_URL']);
      expect(container.env).toContainEqual(password);
    });
  });

  describe('for Redis', () => {
    const FILES = { existingSecret: 'theirs' };

    it.each([
      { redis: { tls: FILES }, says: 'redis.tls.existingSecret needs a redis.url with TLS' },
      {
        redis: { url: 'rediss://redis', tls: { ...FILES, clientCertificate: true } },
        says: 'redis.tls.clientCertificate needs a redis.url that names it',
      },
      {
        redis: { url: 'rediss://redis', tls: { clientCertificate: true } },
        says: 'redis.tls.clientCertificate needs redis.tls.existingSecret',
      },
      { redis: { url: '' }, says: 'redis.url or redis.existingSecret is needed' },
    ])('are refused when the program would refuse them: $says', ({ redis, says }) => {
      expect(() => render({ redis })).toThrow(says);
    });

    it('may leave the URL to a Secret, of which the chart knows nothing', () => {
      const redis = { url: '', existingSecret: 'url', tls: { ...FILES, clientCertificate: true } };
      expect(() => render({ redis })).not.toThrow();
    });
  });

  describe('for the network policy', () => {
    const policyOf = (networkPolicy: Values = {}, more: Values = {}) =>
      new Chart({ ...more, networkPolicy: { enabled: true, ...networkPolicy } }).one<Policy>('NetworkPolicy')
        .spec;

    it('let the replicas alone in, and out to one another, DNS, the API and Redis', () => {
      const own = { podSelector: { matchLabels: OWN } };
      const test = { podSelector: { matchLabels: { ...OWN, 'app.kubernetes.io/name': 'rollkeeper-test' } } };
      expect(policyOf({}, { admin: { port: 9090 } })).toEqual({
        podSelector: { matchLabels: OWN },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [{ from: [own, test], ports: [tcp(9090)] }],
        egress: [
          { to: [own], ports: [tcp(9090)] },
          { ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] },
          { ports: [tcp(443), tcp(6443)] },
          { ports: [tcp(6379)] },
        ],
      });
    });

    it('let out to a collector where spans go to one', () => {
      const otlp = { endpoint: 'http://otel:4318' };
      expect(policyOf({}, { otlp }).egress).toContainEqual({ ports: [tcp(4318)] });
      expect(policyOf().egress).not.toContainEqual({ ports: [tcp(4318)] });
    });

    it('name who comes in and where it goes', () => {
      const peer = (app: string) => ({ podSelector: { matchLabels: { app } } });
      const extra = { to: [peer('proxy')], ports: [tcp(3128)] };
      const { egress, ingress } = policyOf(
        {
          adminFrom: [peer('prometheus')],
          api: { to: [peer('api')], ports: [6443] },
          redis: { to: [peer('redis')], ports: [6379, 26379] },
          otlp: { to: [peer('otel')] },
          dns: { to: [peer('dns')] },
          extraEgress: [extra],
        },
        { otlp: { endpoint: 'http://otel:4318' } },
      );
      expect(ingress[0]?.from.slice(2)).toEqual([peer('prometheus')]);
      expect(egress.slice(1)).toEqual([
        { to: [peer('dns')], ports: [{ protocol: 'UDP', port: 53 }, tcp(53)] },
        { to: [peer('api')], ports: [tcp(6443)] },
        { to: [peer('redis')], ports: [tcp(6379), tcp(26379)] },
        { to: [peer('otel')], ports: [tcp(4318)] },
        extra,
      ]);
    });
  });

  describe('have a schema', () => {
    const root = valueSchema();

    it('with each of them, and a type for each', () => {
      const known = Object.keys(root.properties ?? {}).filter(
        (name) => name !== 'global' && name !== 'enabled',
      );
      expect(known.sort()).toEqual(Object.keys(defaultValues()).sort());
      expect(untyped(root)).toEqual([]);
    });

    it.each<{ values: Values; says: string }>([
      { values: { replicas: 3 }, says: 'Additional property replicas is not allowed' },
      { values: { image: { name: 'a' } }, says: 'image: Additional property name is not allowed' },
      {
        values: { replicaCount: 'three' },
        says: 'replicaCount: Invalid type. Expected: integer, given: string',
      },
      { values: { replicaCount: 1.5 }, says: 'replicaCount: Invalid type. Expected: integer, given: number' },
      { values: { admin: { port: 65_536 } }, says: 'admin.port: Must be less than or equal to 65535' },
      { values: { admin: { auth: 'maybe' } }, says: 'admin.auth must be one of the following' },
      { values: { namespaces: 'a,b' }, says: 'namespaces: Invalid type. Expected: array, given: string' },
      { values: { redis: { url: 'redis:6379' } }, says: 'redis.url: Does not match pattern' },
      { values: { otlp: { endpoint: 'otel:4318' } }, says: 'otlp.endpoint: Does not match pattern' },
      {
        values: { imagePullSecrets: ['registry'] },
        says: 'imagePullSecrets.0: Invalid type. Expected: object',
      },
      {
        values: { extraEnv: [{ name: 'A', value: 3 }] },
        says: 'extraEnv.0.value: Invalid type. Expected: string',
      },
      { values: { extraArgs: ['log-level'] }, says: 'extraArgs.0: Does not match pattern' },
      { values: { podLabels: { a: true } }, says: 'podLabels.a: Invalid type. Expected: string' },
      { values: { networkPolicy: { api: { ports: [] } } }, says: 'networkPolicy.api.ports: Array must have' },
    ])('with refusals of $values in words that name the field', ({ says, values }) => {
      expect(() => render(values)).toThrow(says);
    });

    it('for what a chart hands over which depends on this one', () => {
      expect(() => render({ global: { region: 'a' }, enabled: true })).not.toThrow();
    });
  });
});

/** Paths of what the schema says nothing of, and of objects of ours that would take anything. */
function untyped({ properties = {}, ...schema }: ValueSchema, path = ''): string[] {
  const isOpen = Object.keys(properties).length > 0 && schema.additionalProperties !== false;
  const found = schema.type === undefined || isOpen ? [path] : [];
  return [
    ...found,
    ...Object.entries(properties).flatMap(([name, inner]) => untyped(inner, `${path}.${name}`)),
  ];
}
