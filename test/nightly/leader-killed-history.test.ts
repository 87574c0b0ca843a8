import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import type { EventObject } from '../../src/client/events/event-object.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import {
  untyped,
  ConfigMap,
  Deployment,
  Event,
  Namespace,
  ReplicaSet,
} from '../../src/machinery/kubernetes/index.js';
import { Service } from '../../src/runtime/index.js';
import { PROBLEM_COMPONENT } from '../../src/rollkeeper/insight/problems/index.js';
import type { Timeline, TimelineEntry } from '../../src/rollkeeper/insight/rollout/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { Rollouts } from '../e2e/support/rollouts.js';
import { Up, rollkeeper } from '../e2e/support/up.js';

/*
 * The leader is killed while changes are made and problems come and go.
 *  1. each change is in the history once, with who asked and how it ended;
 *  2. the sizes of each ReplicaSet follow each other: none is missing, none appears twice;
 *  3. each problem is reported once, also across leaders, and its end as well.
 */

const NAMESPACE = 'kept';
const CHANGES = 8;
const KILLED_AFTER: ReadonlySet<number> = new Set([2, 5]);
const WEB = { namespace: NAMESPACE, name: 'web' };

describe('a leader that is killed', () => {
  let up: Up;
  let client: HttpApiClient;
  let rollouts: Rollouts;

  beforeAll(async () => {
    up = await Up.start({ args: ['--', '--problems-interval-ms', '1000'] });
    client = await up.client();
    const metadata = { name: NAMESPACE, annotations: { 'rollkeeper.dev/history': '14d' } };
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
    rollouts = new Rollouts(client, NAMESPACE);
  });
  afterAll(async () => {
    await client?.close();
    await up?.stopAndRemove();
  });

  const killLeader = async (): Promise<void> => {
    process.kill((await up.leader()).pid, 'SIGKILL');
  };
  const timeline = async (): Promise<Timeline> => {
    const { adminUrl } = await up.leader();
    const answer = await fetch(`${adminUrl}/admin/rollouts/${NAMESPACE}/web/timeline?events=false`);
    return (await answer.json()) as Timeline;
  };
  const kept = async (): Promise<string> => {
    const { items } = await client.list<KubernetesObject & { data?: Record<string, string> }>(ConfigMap, {
      namespace: NAMESPACE,
    });
    return items.flatMap(({ data = {} }) => data['recent'] ?? []).join('');
  };
  const sizesOf = (entries: readonly TimelineEntry[], name: string) =>
    entries.flatMap(({ kind, replicaSet, sizes }) =>
      kind === 'sized' && replicaSet === name && sizes && 'from' in sizes ? [sizes] : [],
    );

  it.skipIf(!anyKubectl())('loses no change of a history that lasts, and tells none twice', async () => {
    await client.create(Deployment, aDeployment({ ...WEB, replicas: 4 }));
    await rollouts.rolledOut('web');
    // The sizes that were asked for before the first look are not known.
    await waitFor(async () => (await kept()).includes('"asked"'), { what: 'the history to begin' });
    for (let change = 1; change <= CHANGES; change++) {
      await rollouts.setImage('web', `web:${change + 1}`);
      // In the middle: some pods of the new version are there.
      if (KILLED_AFTER.has(change)) await killLeader();
      await rollouts.rolledOut('web');
    }
    const kubectl = await up.kubectl(anyKubectl()?.binary ?? '', [
      ...['-n', NAMESPACE, 'scale', 'deployment/web', '--replicas=6'],
    ]);
    expect(kubectl.code).toBe(0);
    await rollouts.rolledOut('web');
    await waitFor(async () => /"kind":"scaled"/.test(await kept()), { what: 'the new size to be recorded' });
    const { entries, notes } = await timeline();
    expect(notes).toEqual([]);
    const revisions = Array.from({ length: CHANGES + 1 }, (_, index) => String(index + 1));
    const of = (kind: TimelineEntry['kind']) =>
      entries.filter((entry) => entry.kind === kind).map(({ revision }) => revision);
    expect(of('asked')).toEqual(revisions);
    expect(of('ended')).toEqual(revisions);
    const { items } = await client.list<ReplicaSet>(ReplicaSet, { namespace: NAMESPACE });
    expect(items.length).toBeGreaterThan(CHANGES);
    for (const { metadata, spec } of items) {
      const sizes = sizesOf(entries, metadata.name);
      const all = `${metadata.name}: ${JSON.stringify(entries.filter((entry) => entry.replicaSet === metadata.name))}`;
      expect(sizes[0]?.from, metadata.name).toBe(0);
      for (const [index, { from }] of sizes.entries())
        if (index > 0) expect(from, all).toBe(sizes[index - 1]?.to);
      expect(sizes.at(-1)?.to, metadata.name).toBe(spec.replicas);
    }
    expect(entries.filter(({ kind }) => kind === 'scaled')).toMatchObject([
      {
        sizes: { from: 4, to: 6 },
        means: 'kubectl-scale',
        with: 'kubectl',
      },
    ]);
  });

  it('leaves a history that the command line reads as well', async () => {
    const told = await rollkeeper(
      ...['timeline', 'deployment/web', '-n', NAMESPACE, '--no-events'],
      ...['-o', 'json', '--kubeconfig', up.kubeconfig],
    );
    expect(told.code).toBe(0);
    expect(JSON.parse(told.stdout)).toEqual((await timeline()).entries);
  });

  it('is followed by one that repeats no problem, and reports what went meanwhile', async () => {
    const service = (name: string, app: string) => ({
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: NAMESPACE } },
      spec: { selector: { app }, ports: [{ port: 80 }] },
    });
    const told = async (name: string): Promise<readonly string[]> => {
      const fieldSelector = `reportingComponent=${PROBLEM_COMPONENT},involvedObject.name=${name}`;
      const { items } = await client.list<EventObject>(untyped(Event), {
        namespace: NAMESPACE,
        fieldSelector,
      });
      return items.map(({ count, reason }) => `${reason} ${count}`).toSorted();
    };
    for (const name of ['stays', 'goes']) await client.create(Service, service(name, 'missing'));
    await waitFor(async () => (await told('stays')).length + (await told('goes')).length === 2, {
      what: 'both problems to be reported',
    });
    await killLeader();
    const body = { spec: { selector: { app: 'web' } } };
    await client.patch(Service, { namespace: NAMESPACE, name: 'goes' }, { type: 'merge', body });
    await client.create(Service, service('comes', 'missing'));
    await waitFor(async () => (await told('comes')).length === 1, { what: 'the new problem to be reported' });
    await waitFor(async () => (await told('goes')).includes('ProblemSolved 1'), {
      what: 'the end of the old one to be reported',
    });
    expect(await told('stays')).toEqual(['NoEndpoints 1']);
    expect(await told('goes')).toEqual(['NoEndpoints 1', 'ProblemSolved 1']);
    expect(await told('comes')).toEqual(['NoEndpoints 1']);
  });
});
