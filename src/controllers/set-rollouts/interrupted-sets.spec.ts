import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../machinery/kubernetes/index.js';
import { Pod, qualifiedResource } from '../../machinery/kubernetes/index.js';
import { SystemRandom } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import type { ControllerDefinition } from '../../runtime/index.js';
import { buildController } from '../../runtime/controller/index.js';
import { settleInterruption } from '../../runtime/controller/settle-interruption.js';
import { InMemoryInformers } from '../../testing/in-memory/in-memory-informers.js';
import { daemonSetController } from '../daemonset/daemonset-controller.js';
import { ControllerRevision } from '../shared/index.js';
import { statefulSetController } from '../statefulset/statefulset-controller.js';
import { DaemonLab } from './daemon-lab.fixture.js';
import { createDaemonSetRollouts } from './daemon-set-rollouts.js';
import { SetLab } from './set-lab.fixture.js';
import { createStatefulSetRollouts } from './stateful-set-rollouts.js';

const OTHERS = 300;
const informer = { hasSeen: () => true, waitForResourceVersion: async () => undefined };

/** How many objects the server sends after an interrupted sync of a set in a namespace with many other pods, and what must be seen. */
async function readAgain(definition: ControllerDefinition, lab: SetLab | DaemonLab) {
  const { api, clock, set } = lab;
  const [first] = api.all<Pod>(Pod);
  if (!first) throw new Error('there is no pod');
  for (let each = 0; each < OTHERS; each++) {
    const metadata = { ...first.metadata, name: `other-${each}`, uid: `other-${each}` };
    api.seed<Pod>(Pod, { ...first, metadata: { ...metadata, labels: { app: 'web' }, ownerReferences: [] } });
  }
  const { owns = [] } = buildController(definition, {
    ...{ informers: new InMemoryInformers(api), discovery: api, clock, logger: silentLogger },
    ...{ events: { record: () => undefined }, random: new SystemRandom() },
  });
  const seen: Record<string, string> = {};
  let sent = 0;
  const client = {
    list: async <T extends KubernetesObject>(...asked: Parameters<typeof api.list>) => {
      const page = await api.list<T>(...asked);
      sent += page.items.length;
      return page;
    },
  };
  await settleInterruption(
    {
      recordOwnWrite: (resource, version) => void (seen[resource] = version),
      settleInterruption: () => undefined,
    },
    {
      ref: set.metadata,
      client,
      informerOf: () => informer,
      kinds: { owned: owns },
      object: set,
    },
  );
  return { sent, seen: Object.keys(seen).toSorted() };
}

describe('a set whose sync was interrupted, in a namespace with 300 pods of others', () => {
  const kinds = [ControllerRevision, Pod].map((kind) => qualifiedResource(kind)).toSorted();

  it.each([
    ['its own controller', statefulSetController],
    ['the controller of its rollouts', createStatefulSetRollouts()],
  ])('costs as a StatefulSet as many objects as it has, for %s', async (_name, definition) => {
    const lab = await SetLab.rolledOut({});
    expect(await readAgain(definition, lab)).toEqual({ sent: 5, seen: kinds });
  });

  it.each([
    ['its own controller', daemonSetController],
    ['the controller of its rollouts', createDaemonSetRollouts()],
  ])('costs as a DaemonSet as many objects as it has, for %s', async (_name, definition) => {
    const lab = await DaemonLab.rolledOut({});
    expect(await readAgain(definition, lab)).toEqual({ sent: 5, seen: kinds });
  });
});
