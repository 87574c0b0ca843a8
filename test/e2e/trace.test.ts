import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment, Pod } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { anyKubectl } from './support/kubectl.js';
import type { ReceivedEvent, ReceivedSpan } from './support/otlp-receiver.js';
import { OtlpReceiver } from './support/otlp-receiver.js';
import { Up } from './support/up.js';

describe('the trace of one change', () => {
  let receiver: OtlpReceiver;
  let up: Up;
  let client: HttpApiClient;
  /** Everything that hangs on the `set image`. */
  let tree: ReceivedSpan[] = [];
  let root: ReceivedSpan;

  const inTree = (name: string): ReceivedSpan[] => tree.filter((span) => span.name === name);
  const childrenOf = ({ spanId }: ReceivedSpan): ReceivedSpan[] =>
    tree.filter(({ parentSpanId }) => parentSpanId === spanId);
  const parentOf = ({ parentSpanId }: ReceivedSpan): ReceivedSpan | undefined =>
    tree.find(({ spanId }) => spanId === parentSpanId);
  const ancestorsOf = (span: ReceivedSpan): ReceivedSpan[] => {
    const parent = parentOf(span);
    return parent ? [parent, ...ancestorsOf(parent)] : [];
  };

  /** The attributes of a span's events of one name: writes of a sync, or its reads and decision. */
  const eventsOf = (span: ReceivedSpan, name: string): ReceivedEvent['attributes'][] =>
    span.events.filter((event) => event.name === name).map(({ attributes }) => attributes);
  const eventsInTree = (name: string): ReceivedEvent['attributes'][] =>
    tree.flatMap((span) => eventsOf(span, name));

  /** The changes that a `change seen` stands for. */
  const changesOf = ({ attributes }: ReceivedSpan): string[] => [
    `${String(attributes['k8s.event'])} ${String(attributes['k8s.kind'])} ${String(attributes['k8s.object.key'])}`,
    ...((attributes['rollkeeper.merged_changes'] as string[] | undefined) ?? []),
  ];

  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    up = await Up.start({
      args: ['--replicas', '2'],
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '100' },
    });
    client = await up.client();
    await client.create(Deployment, aDeployment({ name: 'web', replicas: 10 }));
    await rolledOut();
    await setImage('web:2');
    await rolledOut();
    await oldPodsGone();
    await quiet();
    root = receiver.spans.find(isSetImage) as ReceivedSpan;
    tree = receiver.spans.filter(({ traceId }) => traceId === root.traceId);
  });

  afterAll(async () => {
    await client.close();
    await up.stopAndRemove();
    await receiver.stop();
  });

  const isSetImage = ({ attributes, name, parentSpanId }: ReceivedSpan): boolean =>
    name === 'PATCH deployments' && attributes['k8s.object.key'] === 'default/web' && parentSpanId === '';

  async function setImage(image: string): Promise<void> {
    const kubectl = anyKubectl();
    if (kubectl) {
      const { code, stderr } = await up.kubectl(kubectl.binary, [
        'set',
        'image',
        'deployment/web',
        `web=${image}`,
      ]);
      expect(stderr).toBe('');
      expect(code).toBe(0);
      return;
    }
    const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
    await client.patch(Deployment, { namespace: 'default', name: 'web' }, { type: 'strategic', body });
  }

  function rolledOut(): Promise<unknown> {
    return waitFor(
      async () => {
        const { metadata, status } = await client.get<Deployment>(Deployment, {
          namespace: 'default',
          name: 'web',
        });
        return (
          status?.observedGeneration === metadata.generation &&
          status?.updatedReplicas === 10 &&
          status?.replicas === 10 &&
          status?.availableReplicas === 10
        );
      },
      { what: 'the rollout' },
    );
  }

  /** A rollout does not wait for them: pods that terminate count no more. */
  function oldPodsGone(): Promise<unknown> {
    return waitFor(
      async () => {
        const pods = await client.list<Pod>(Pod, { namespace: 'default', labelSelector: 'app=web' });
        const images = pods.items.map(({ spec }) => spec.containers[0]?.image);
        return images.length === 10 && images.every((image) => image === 'web:2');
      },
      { what: 'the pods of web:1 to be gone' },
    );
  }

  /** Until no span has come for a while: the last ones are sent with a delay, and the last syncs change nothing. */
  async function quiet(): Promise<void> {
    let before = -1;
    await waitFor(
      () => {
        const still = receiver.spans.length === before;
        before = receiver.spans.length;
        return still;
      },
      { intervalMs: 2000, what: 'the last span' },
    );
  }

  it('begins at the API server, and has one root', () => {
    expect(receiver.problems).toEqual([]);
    expect(root.service).toBe('rollkeeper-apiserver');
    expect(tree.filter(({ parentSpanId }) => parentSpanId === '')).toEqual([root]);
  });

  it('has no orphan span, nor has any other trace', () => {
    const known = new Set(receiver.spans.map(({ spanId, traceId }) => `${traceId}/${spanId}`));
    const orphans = receiver.spans.filter(
      ({ parentSpanId, traceId }) => parentSpanId !== '' && !known.has(`${traceId}/${parentSpanId}`),
    );
    expect(orphans).toEqual([]);
    const dangling = receiver.spans.flatMap(({ links }) =>
      links.filter(({ spanId, traceId }) => !known.has(`${traceId}/${spanId}`)),
    );
    expect(dangling).toEqual([]);
  });

  it('goes on with the change that the leader saw, the wait in the queue, and the sync', () => {
    const [seen] = childrenOf(root);
    expect(seen).toMatchObject({ name: 'change seen', service: 'rollkeeper' });
    expect(seen?.attributes).toMatchObject({
      'rollkeeper.controller': 'deployment',
      'rollkeeper.key': 'default/web',
      'k8s.kind': 'Deployment',
      'k8s.event': 'modified',
      'k8s.resource_version': expect.stringMatching(/^\d+$/),
    });
    expect(seen?.attributes['rollkeeper.differs']).toContain('spec.template');
    const [next] = childrenOf(seen as ReceivedSpan);
    // A wait that is worth a span has one.
    const [sync] = next?.name === 'queue' ? childrenOf(next) : [next];
    expect(sync).toMatchObject({ name: 'sync deployment' });
    const waitMs = Number(sync?.attributes['rollkeeper.queue.wait_ms']);
    expect(next?.name === 'queue').toBe(waitMs >= 100);
    expect(sync?.attributes).toMatchObject({
      'rollkeeper.priority': 'high',
      'rollkeeper.attempt': 1,
      'rollkeeper.controller': 'deployment',
      'rollkeeper.key': 'default/web',
      'rollkeeper.replica': sync?.instance,
      'rollkeeper.reason': 'user-change',
      'rollkeeper.fencing_token': expect.any(Number),
      'rollkeeper.caught_up_wait_ms': expect.any(Number),
    });
  });

  it('says what was read, and what was decided from what', () => {
    const creation = inTree('sync deployment').find((span) =>
      eventsOf(span, 'decided').some((decided) =>
        String(decided['rollkeeper.decision.summary']).includes('create web-'),
      ),
    );
    expect(creation?.attributes['rollkeeper.decision']).toBe('rolling-update');
    expect(eventsOf(creation as ReceivedSpan, 'read caches').at(-1)).toMatchObject({
      'k8s.resource': 'replicasets.apps',
      'k8s.resource_version': expect.stringMatching(/^\d+$/),
      'rollkeeper.replica_sets.owned': expect.any(Number),
    });
    expect(eventsOf(creation as ReceivedSpan, 'decided').at(-1)).toMatchObject({
      'rollkeeper.decision': 'rolling-update',
      'rollkeeper.replicas': 10,
      'rollkeeper.max_surge': 3,
      'rollkeeper.max_unavailable': 2,
      'rollkeeper.max_total': 13,
      'rollkeeper.min_available': 8,
      'rollkeeper.decision.changes': true,
      'rollkeeper.decide_ms': expect.any(Number),
    });
  });

  it('names verb, resource, object and status of each write, in its sync, with no span of the server for the same', () => {
    const succeeded = tree.flatMap((span) =>
      span.events
        .filter(({ attributes }) => attributes['k8s.verb'] !== undefined)
        .map(({ attributes }) => ({ attributes, span })),
    );
    expect(succeeded.length).toBeGreaterThan(20);
    for (const write of ['create replicasets', 'create pods', 'delete pods', 'update deployments/status'])
      expect(eventsInTree(write)).not.toEqual([]);
    for (const { attributes, span } of succeeded) {
      expect(span.name).toMatch(/^(sync|schedule) /);
      expect(attributes['k8s.object.key']).toMatch(/^default\/web/);
      expect(attributes['http.response.status_code']).toBeOneOf([200, 201]);
      expect(attributes['rollkeeper.took_ms']).toBeGreaterThanOrEqual(0);
    }
    // Every failed write has a span.
    const failed = tree.filter(
      ({ attributes, service }) => service === 'rollkeeper' && attributes['k8s.verb'] !== undefined,
    );
    for (const write of failed) {
      expect(parentOf(write)?.name).toMatch(/^sync /);
      expect(write.attributes['http.response.status_code']).toBeGreaterThanOrEqual(400);
      if (write.attributes['http.response.status_code'] === 409)
        expect(write.attributes['rollkeeper.conflict']).toBe(true);
    }
    for (const { attributes } of [...succeeded, ...failed])
      expect(attributes['k8s.resource']).toMatch(/^(deployments\.apps|replicasets\.apps|pods)$/);
    expect(tree.filter(({ service }) => service === 'rollkeeper-apiserver')).toEqual([root]);
    // Writes of nodes about pods, the end of a deletion included, begin no trace either.
    const begun = receiver.spans.filter(
      ({ parentSpanId, service }) => parentSpanId === '' && service.endsWith('apiserver'),
    );
    expect(begun.filter(({ name }) => name.includes('pods'))).toEqual([]);
  });

  it('leads from the Deployment to its ReplicaSets, to the creation of each pod and to its becoming ready', () => {
    const creators = inTree('sync replicaset').filter((span) => eventsOf(span, 'create pods').length > 0);
    const created = eventsInTree('create pods').map((attributes) => String(attributes['k8s.object.key']));
    expect(new Set(created).size).toBe(10);
    expect(created).toHaveLength(10);
    for (const creator of creators) {
      const above = ancestorsOf(creator);
      expect(above.at(-1)).toBe(root);
      // The ReplicaSet hangs on the sync of the Deployment that created or scaled it.
      const byDeployment = above.find(({ name }) => name === 'sync deployment');
      expect(byDeployment?.events.map(({ name }) => name)).toEqual(
        expect.arrayContaining([expect.stringMatching(/^(create|update|patch) replicasets/)]),
      );
    }
    // If several changes became one sync, the first has the span and names the others.
    const seen = inTree('change seen');
    const named = new Set(seen.flatMap(changesOf));
    for (const pod of created) expect(named).toContain(`modified Pod ${pod}`);
    // Until a pod is to be deleted, what is seen of it hangs on the sync that created it, or on its scheduling, which does.
    const ofNewPods = seen.filter(({ attributes }) => created.includes(String(attributes['k8s.object.key'])));
    expect(ofNewPods.length).toBeGreaterThan(0);
    for (const span of ofNewPods) {
      const above = parentOf(span) as ReceivedSpan;
      const creator = above.name.startsWith('schedule ') ? (parentOf(above) as ReceivedSpan) : above;
      const creations = eventsOf(creator, 'create pods');
      expect(creations.map((creation) => creation['k8s.object.key'])).toContain(
        span.attributes['k8s.object.key'],
      );
    }
    const ready = inTree('sync replicaset')
      .filter((span) => ancestorsOf(span).some((above) => creators.includes(above)))
      .flatMap((span) => eventsOf(span, 'read caches'))
      .map((read) => Number(read['rollkeeper.pods.ready']));
    expect(Math.max(...ready)).toBe(10);
  });

  it('comes back from the pods that are ready to the status of the Deployment', () => {
    const toldBy = inTree('sync deployment').filter(({ events }) =>
      events.some(({ name }) => name === 'update deployments/status'),
    );
    const newSet = eventsInTree('create replicasets')[0]?.['k8s.object.key'];
    const seen = toldBy.flatMap(ancestorsOf).flatMap(changesOf);
    expect(seen).toContain(`modified ReplicaSet ${String(newSet)}`);
  });

  it('spans two replicas at least', () => {
    const replicas = new Set(
      tree
        .filter(({ name }) => name.startsWith('sync '))
        .map(({ attributes }) => attributes['rollkeeper.replica']),
    );
    expect(replicas.size).toBeGreaterThanOrEqual(2);
  });

  it('is noted on objects, never in pod templates', async () => {
    const { metadata, spec } = await client.get<Deployment>(Deployment, {
      namespace: 'default',
      name: 'web',
    });
    expect(metadata.annotations?.['rollkeeper.dev/traceparent']).toMatch(
      /^00-[0-9a-f]{32}-[0-9a-f]{16}-01;at=/,
    );
    expect(spec.template.metadata?.annotations).toBeUndefined();
  });

  it('says, for a deletion, what the garbage collector saw, and what it decided from what', async () => {
    const ref = { namespace: 'default', name: 'web' };
    await client.delete(Deployment, ref, { propagationPolicy: 'Foreground' });
    await waitFor(async () => (await client.list(Deployment, { namespace: 'default' })).items.length === 0, {
      what: 'the Deployment to be gone',
    });
    await quiet();
    const deletion = receiver.spans.find(
      ({ attributes, name }) =>
        name === 'DELETE deployments' && attributes['k8s.object.key'] === 'default/web',
    );
    const below = receiver.spans.filter(({ traceId }) => traceId === deletion?.traceId);
    const seen = below.find(
      ({ attributes, parentSpanId }) =>
        parentSpanId === deletion?.spanId && attributes['rollkeeper.controller'] === 'garbage-collector',
    );
    expect(seen).toMatchObject({ name: 'change seen' });
    expect(seen?.attributes).toMatchObject({ 'k8s.event': 'modified', 'k8s.object.key': 'default/web' });
    expect(seen?.attributes['rollkeeper.differs']).toContain('metadata.deletionTimestamp');
    const collected = below.find((span) =>
      eventsOf(span, 'decided').some((decided) =>
        String(decided['rollkeeper.decision.summary']).startsWith('delete ReplicaSet default/web-'),
      ),
    );
    expect(collected).toMatchObject({
      name: 'sync garbage-collector',
      attributes: { 'rollkeeper.decision': 'delete' },
    });
    const told = collected?.events.map(({ attributes }) => attributes);
    expect(Object.assign({}, ...(told ?? []))).toMatchObject({
      'rollkeeper.owners.waiting': 1,
      'rollkeeper.owners.solid': 0,
    });
    const ends = below.flatMap((span) => eventsOf(span, 'delete pods'));
    expect(new Set(ends.map((attributes) => attributes['k8s.object.key'])).size).toBe(10);
  });
});
