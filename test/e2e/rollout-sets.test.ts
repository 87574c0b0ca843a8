import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Node, Pod, isPodReady, isTerminating } from '../../src/machinery/kubernetes/index.js';
import { DaemonSet, StatefulSet, typeMeta } from '../../src/runtime/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from './support/kubectl.js';
import { LookedAfter, PREFIX } from './support/looked-after.js';
import { SharedUp } from './support/shared-up.js';

/** The value of a partition that holds every pod. */
const HELD = 2 ** 31 - 1;
const POLICIES = { steps: '1; approve', 'on-failure': 'rollback', 'fail-after': '2s' };

/* Leaders that die, histories and sets that lose their policies are in the nightly suite. */
describe.skipIf(!anyKubectl())('a set that is rolled out by policies beside its own controller', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let looked: LookedAfter;
  const namespace = 'policies-of-sets';

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    client = await up.client();
    await up.createNamespace(client, namespace);
    looked = new LookedAfter(up, client, namespace);
  });

  afterAll(async () => {
    await client?.close();
    await up.give();
  });

  const partsOf = (name: string) => ({
    metadata: {
      ...{ namespace, name },
      annotations: Object.fromEntries(Object.entries(POLICIES).map(([key, value]) => [PREFIX + key, value])),
    },
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'web:1' }] },
    },
  });

  /** Waits until the images of the pods, by their names, are these, all ready. */
  const runs = (name: string, wanted: readonly string[]): Promise<unknown> =>
    waitFor(
      async () => {
        const { items } = await client.list<Pod>(Pod, { namespace, labelSelector: `app=${name}` });
        const images = items
          .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
          .map(({ spec }) => spec.containers[0]?.image);
        const areReady = items.every((pod) => isPodReady(pod) && !isTerminating(pod));
        return areReady && JSON.stringify(images) === JSON.stringify(wanted);
      },
      { what: `the pods of ${name} to run ${wanted.join(' ')}`, timeoutMs: 60_000 },
    );

  const setImage = async (target: string, image: string): Promise<void> => {
    expect(await looked.kubectl('set', 'image', target, `main=${image}`)).toMatchObject({ code: 0 });
  };

  const waitsForApproval = (target: string): Promise<unknown> =>
    waitFor(
      async () => {
        const { stdout } = await looked.rollkeeper('explain', target, '-n', namespace);
        return stdout.includes('waits for an approval');
      },
      { what: `${target} to wait for an approval`, timeoutMs: 60_000 },
    );

  const approve = async (target: string): Promise<void> => {
    const promoted = await looked.rollkeeper('promote', target, '-n', namespace, '--by', 'ann');
    expect(promoted, promoted.stderr).toMatchObject({ code: 0 });
  };

  it('is a StatefulSet that goes one pod far, on when it is approved, and back from a broken image', async () => {
    const { metadata, ...spec } = partsOf('db');
    const set = { ...typeMeta(StatefulSet), metadata, spec: { ...spec, serviceName: 'db', replicas: 2 } };
    await client.create<StatefulSet>(StatefulSet, set);
    const read = (): Promise<StatefulSet> => client.get<StatefulSet>(StatefulSet, metadata);
    const isHeld = async (): Promise<boolean> =>
      (await read()).spec.updateStrategy?.rollingUpdate?.partition === HELD;
    await runs('db', ['web:1', 'web:1']);
    await waitFor(isHeld, { what: 'the StatefulSet to be held', timeoutMs: 60_000 });
    await setImage('statefulset/db', 'web:2');
    await waitsForApproval('statefulset/db');
    await runs('db', ['web:1', 'web:2']);
    await approve('statefulset/db');
    await runs('db', ['web:2', 'web:2']);
    await waitFor(isHeld, { what: 'the StatefulSet to be held again', timeoutMs: 60_000 });
    await setImage('statefulset/db', 'web:broken');
    await waitFor(async () => (await read()).spec.template.spec?.containers[0]?.image === 'web:2', {
      what: 'the template to be put back',
      timeoutMs: 60_000,
    });
    await runs('db', ['web:2', 'web:2']);
  });

  it('is a DaemonSet that goes one node far, and on to all when it is approved', async () => {
    const { metadata, ...spec } = partsOf('agent');
    await client.create<DaemonSet>(DaemonSet, { ...typeMeta(DaemonSet), metadata, spec });
    const nodes = (await client.list<Node>(Node)).items.length;
    await waitFor(
      async () => (await client.get<DaemonSet>(DaemonSet, metadata)).spec.updateStrategy?.type === 'OnDelete',
      { what: 'the DaemonSet to be held', timeoutMs: 60_000 },
    );
    const images = async (): Promise<readonly (string | undefined)[]> => {
      const { items } = await client.list<Pod>(Pod, { namespace, labelSelector: 'app=agent' });
      return items.filter((pod) => isPodReady(pod)).map(({ spec: { containers } }) => containers[0]?.image);
    };
    const shares = (wanted: Record<string, number>): Promise<unknown> =>
      waitFor(
        async () => {
          const found = await images();
          const counts = Object.entries(wanted).map(
            ([image, count]) => found.filter((each) => each === image).length === count,
          );
          return found.length === nodes && counts.every(Boolean);
        },
        { what: `nodes with ${JSON.stringify(wanted)}`, timeoutMs: 60_000 },
      );
    await shares({ 'web:1': nodes });
    await setImage('daemonset/agent', 'web:2');
    await waitsForApproval('daemonset/agent');
    await shares({ 'web:1': nodes - 1, 'web:2': 1 });
    await approve('daemonset/agent');
    await shares({ 'web:2': nodes });
  });
});
