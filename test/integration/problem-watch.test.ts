import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiEventRecorder } from '../../src/client/events/index.js';
import type { EventObject } from '../../src/client/events/event-object.js';
import type { ApiClient } from '../../src/client/api-client/index.js';
import { SystemClock, SystemRandom } from '../../src/machinery/clock/index.js';
import { silentLogger } from '../../src/machinery/logging/index.js';
import {
  PROBLEM_COMPONENT,
  ProblemWatch,
  lookForProblems,
  readReportedProblems,
} from '../../src/rollkeeper/insight/problems/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { waitFor } from '../../src/testing/wait-for.js';

let cluster: TestCluster;
const stoppers: (() => Promise<void>)[] = [];

const service = (namespace: string, selector: string) => ({
  ...{ apiVersion: 'v1', kind: 'Service' },
  metadata: { name: 'web', namespace },
  spec: { selector: { app: selector }, ports: [{ port: 80 }] },
});

/** The watch of one leader, with the rights of this client. */
function watchWith(
  client: ApiClient,
  namespaces: readonly string[] = [],
): { readonly stop: () => Promise<void>; readonly watch: ProblemWatch } {
  const clock = new SystemClock();
  const recorder = new ApiEventRecorder({
    ...{ client, component: PROBLEM_COMPONENT, clock, random: new SystemRandom(), logger: silentLogger },
  });
  const stopper = new AbortController();
  const watch = new ProblemWatch({
    look: (signal) => lookForProblems(client, namespaces, { nowMs: clock.now(), signal }),
    reported: (signal) => readReportedProblems(client, namespaces, signal),
    ...{ events: recorder, isLeader: () => true, intervalMs: 20, clock, logger: silentLogger },
  });
  const ended = Promise.all([recorder.run(stopper.signal), watch.run(stopper.signal)]);
  const stop = async (): Promise<void> => {
    stopper.abort();
    await ended;
  };
  stoppers.push(stop);
  return { stop, watch };
}

async function told(namespace: string): Promise<readonly string[]> {
  const events = await cluster.list<EventObject>('events', { namespace });
  return events
    .filter(({ reportingComponent }) => reportingComponent === PROBLEM_COMPONENT)
    .map(({ count, reason, type }) => `${type} ${reason} ${count}`)
    .toSorted();
}

beforeAll(async () => {
  cluster = await startTestCluster({ controllers: [], nodes: 1, scheduler: false, users: ['of-shop'] });
  for (const name of ['shop', 'other', 'later'])
    await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await cluster.apply({
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' },
    metadata: { name: 'of-shop', namespace: 'shop' },
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['list'] },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    ],
  });
  await cluster.apply({
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
    metadata: { name: 'of-shop', namespace: 'shop' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'of-shop' },
    subjects: [{ kind: 'User', name: 'of-shop' }],
  });
  for (const namespace of ['shop', 'other']) await cluster.apply(service(namespace, 'missing'));
});
afterAll(async () => {
  await Promise.all(stoppers.map((stop) => stop()));
  await cluster.stop();
});

describe('problems on a real API', () => {
  it('become Events in one namespace with the rights in it alone, and nothing elsewhere', async () => {
    const { client } = await cluster.user('of-shop');
    const { stop, watch } = watchWith(client, ['shop']);
    await waitFor(async () => (await told('shop')).includes('Warning NoEndpoints 1'), { what: 'the Event' });
    expect(watch.counts()).toMatchObject([{ kind: 'Service', cause: 'no-endpoints', count: 1 }]);
    expect(await told('other')).toEqual([]);
    await stop();
  });

  it('are not said again by the next leader, who reports what went while nothing led', async () => {
    const first = watchWith(cluster.client);
    await waitFor(async () => (await told('other')).includes('Warning NoEndpoints 1'), { what: 'the Event' });
    await first.stop();
    await cluster.patch('other/service/web', { spec: { selector: null } });
    await cluster.apply(service('later', 'missing'));
    const next = watchWith(cluster.client);
    await waitFor(async () => (await told('later')).length > 0, { what: 'the problem that is new' });
    await waitFor(async () => (await told('other')).length > 1, { what: 'the end of the other one' });
    await next.stop();
    expect(await told('shop')).toEqual(['Warning NoEndpoints 1']);
    expect(await told('other')).toEqual(['Normal ProblemSolved 1', 'Warning NoEndpoints 1']);
    expect(await told('later')).toEqual(['Warning NoEndpoints 1']);
  });
});
