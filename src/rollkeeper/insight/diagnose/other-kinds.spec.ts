import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '@rollkeeper/client/api-client';
import { Node } from '@rollkeeper/machinery/kubernetes';
import { explained, ago, clusterOf, causesOf, spec, type Sketch } from './diagnose.fixture.js';

describe('other kinds', () => {
  const failed = { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'reached' };
  it.each<[string, string, string, Sketch, string[]]>([
    [
      'a Job that gave up',
      'job',
      'j',
      { spec: {}, status: { failed: 7, conditions: [failed] } },
      ['blocked job-failed'],
    ],
    [
      'a Job that tries again',
      'job',
      'j',
      { spec: { backoffLimit: 6 }, status: { failed: 1, active: 1 } },
      ['waits job-retrying'],
    ],
    [
      'a DaemonSet for no node',
      'ds',
      'd',
      daemonSet({ desiredNumberScheduled: 0 }),
      ['note no-node-selected'],
    ],
    [
      'a Service without pods',
      'svc',
      's',
      { spec: { selector: { app: 'x' }, ports: [] } },
      ['blocked no-endpoints'],
    ],
    [
      'a load balancer that is awaited',
      'svc',
      's',
      { spec: { type: 'LoadBalancer' } },
      ['waits load-balancer-pending'],
    ],
    [
      'a group that does not answer',
      'apiservice',
      'v1.example.com',
      {
        spec: { service: { namespace: 'shop', name: 's' } },
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }] },
      },
      ['blocked api-group-unavailable'],
    ],
    [
      'a webhook without a Service',
      'validatingwebhookconfiguration',
      'w',
      { webhooks: [{ name: 'w.x', clientConfig: { service: { namespace: 'shop', name: 'gone' } } }] },
      ['blocked webhook-unreachable'],
    ],
    [
      'a definition whose conversion is not there',
      'crd',
      'c',
      converted(['v1', 'v2']),
      ['blocked conversion-unreachable'],
    ],
    [
      'a definition with one version, which nothing converts yet',
      'crd',
      'c',
      converted(['v1']),
      ['note conversion-unreachable'],
    ],
    [
      'a definition whose names another one has',
      'crd',
      'c',
      {
        spec: { ...converted(['v1']).spec, conversion: { strategy: 'None' } },
        status: { conditions: [{ type: 'NamesAccepted', status: 'False', message: 'is in use' }] },
      },
      ['blocked definition-names'],
    ],
    [
      'a CronJob at the 31st of February',
      'cj',
      'c',
      { spec: { schedule: '0 0 31 2 *', jobTemplate: {} } },
      ['blocked schedule-never'],
    ],
    [
      'a CronJob that is too late at once',
      'cj',
      'c',
      { spec: { schedule: '* * * * *', startingDeadlineSeconds: 0, jobTemplate: {} } },
      ['blocked schedule-never'],
    ],
    [
      'a CronJob in a zone that there is not',
      'cj',
      'c',
      { spec: { schedule: '* * * * *', timeZone: 'Mars/Olympus', jobTemplate: {} } },
      ['blocked schedule-invalid'],
    ],
    [
      'a suspended CronJob at the 31st of February',
      'cj',
      'c',
      { spec: { schedule: '0 0 31 2 *', suspend: true, jobTemplate: {} } },
      [],
    ],
    ['a CronJob on leap days', 'cj', 'c', { spec: { schedule: '0 0 29 2 *', jobTemplate: {} } }, []],
    [
      'a DaemonSet that no controller has seen for a minute',
      'ds',
      'd',
      {
        metadata: { generation: 2, managedFields: [{ manager: 'kubectl', time: ago(60) }] },
        ...daemonSet({ desiredNumberScheduled: 0 }),
      },
      ['blocked not-observed-yet', 'note no-node-selected'],
    ],
    [
      'a claim that lost its volume',
      'pvc',
      'c',
      { spec: {}, status: { phase: 'Lost' } },
      ['blocked claim-lost'],
    ],
  ])('%s', async (_, word, name, fields, causes) => {
    const told = await explained(clusterOf([word, name, fields]), word, name);
    expect(causesOf(told)).toEqual(causes);
    for (const { summary, unblockedBy } of told.waitsFor) {
      expect(summary).not.toMatch(/undefined|\.$/);
      expect(unblockedBy.length).toBeGreaterThan(0);
    }
  });

  it('a claim that is in use and being deleted names the pods', async () => {
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }];
    const claim = {
      metadata: { deletionTimestamp: ago(5), finalizers: ['kubernetes.io/pvc-protection'] },
      spec: {},
      status: { phase: 'Bound' },
    };
    const cluster = clusterOf(['pvc', 'c', claim], ['pod', 'user', { spec: { ...spec, volumes } }]);
    const told = await explained(cluster, 'pvc', 'c');
    expect(told).toMatchObject({ state: 'deleting', cause: 'claim-in-use' });
    expect(told.waitsFor[0]?.objects).toEqual([{ kind: 'Pod', namespace: 'shop', name: 'user' }]);
  });
});

function converted(versions: readonly string[]) {
  return {
    spec: {
      names: { kind: 'Thing', plural: 'things' },
      versions: versions.map((name) => ({ name, served: true })),
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { service: { namespace: 'shop', name: 'gone' } } },
      },
    },
  };
}

function daemonSet(status: object): Sketch {
  return {
    spec: { selector: {}, template: { spec }, updateStrategy: { type: 'RollingUpdate' } },
    status: { observedGeneration: 1, ...status },
  };
}

describe('a reader of one namespace', () => {
  it('sees what it may, and is shown what is missing', async () => {
    const cluster = clusterOf(
      ['sts', 'db', { spec: { replicas: 1, selector: {}, template: {} } }],
      ['node', 'secret-node'],
    );
    cluster.intercept = ({ type, verb }) =>
      verb === 'list' && type.resource === Node.resource
        ? new ApiStatusError({ code: 403, reason: 'Forbidden', message: 'no' })
        : undefined;
    const told = await explained(cluster, 'sts', 'db');
    expect(told.notes).toEqual(['You may not list nodes: problems that depend on them are not detected.']);
    expect(JSON.stringify(told)).not.toContain('secret-node');
    expect(cluster.requests.every(({ key, type }) => !type.namespaced || key.startsWith('shop'))).toBe(true);
  });
});
