import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SeededRandom } from '../../../../machinery/clock/index.js';
import { ConfigMap, Deployment, ReplicaSet, Service, keyOf } from '../../../../machinery/kubernetes/index.js';
import type { DeploymentSpec } from '../../../../machinery/kubernetes/index.js';
import { silentLogger } from '../../../../machinery/logging/index.js';
import { buildController } from '../../../../runtime/controller/index.js';
import { InMemoryInformers } from '../../../../testing/in-memory/in-memory-informers.js';
import { StandingClock } from '../../../../testing/in-memory/standing-clock.js';
import { MINUTE_MS, PolicyLab } from '../../../../testing/policy-lab.js';
import { refusal } from '../../../../testing/rollout-world.js';
import { createDeploymentController } from '../../definition.js';
import { parseHostRules } from '../checks/check-hosts.js';
import { parseSteps } from '../steps/steps.js';
import { distinctPorts } from '../experiment/experiment-services.js';
import { EXPERIMENT, EXPERIMENT_OF, EXPERIMENT_SIDE, sideName } from '../experiment/experiment-sets.js';

const STEPS = 'experiment 10m: baseline 1, canary 2, services; 100%';
const POLICIES = { steps: STEPS };
const PORTS = [{ name: 'http', port: 80, targetPort: 8080 }];

function containing(ports: readonly object[]): Partial<DeploymentSpec> {
  return {
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'app:1', ports: ports as never }] },
    },
  };
}

/** A Service of a user, with the selector of the Deployment's pods. */
function aService(name: string, change: Partial<Service['spec']> = {}, namespace = 'default'): Service {
  const metadata = { name, namespace, uid: `uid-of-${namespace}-${name}` };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: { app: 'web' }, ports: PORTS, ...change },
  };
}

async function lab(options: {
  readonly policies?: Record<string, string>;
  readonly services?: readonly Service[];
  readonly spec?: Partial<DeploymentSpec>;
  readonly experimentServices?: boolean;
}): Promise<PolicyLab> {
  const { experimentServices = true, policies = POLICIES, services = [aService('web')], spec = {} } = options;
  return PolicyLab.rolledOut(
    policies,
    { replicas: 3, spec },
    {
      controller: createDeploymentController({ experimentServices }),
      prepare: ({ world }) => {
        for (const service of services) world.api.seed(Service, service);
      },
    },
  );
}

const madeIn = ({ world }: PolicyLab): Service[] =>
  world.api.all<Service>(Service).filter(({ metadata }) => metadata.labels?.[EXPERIMENT_SIDE] !== undefined);
const setsIn = ({ world }: PolicyLab): ReplicaSet[] => world.experimentSets;

/** The keys that changes in the world of a lab wake, and what the controller watches. */
function watching({ world }: PolicyLab, experimentServices = true) {
  const informers = new InMemoryInformers(world.api);
  const asked = vi.spyOn(informers, 'partialInformerFor');
  const controller = buildController(createDeploymentController({ experimentServices }), {
    informers,
    discovery: world.api,
    events: { record: () => undefined },
    clock: new StandingClock(0),
    random: new SeededRandom(1),
    logger: silentLogger,
  });
  const keys: string[] = [];
  informers.refresh();
  controller.watch(({ ref }) => keys.push(keyOf(ref)));
  return {
    types: asked.mock.calls.map(([{ resource }]) => resource),
    changing: (change: () => unknown): string[] => {
      keys.length = 0;
      change();
      informers.refresh();
      return [...new Set(keys)];
    },
  };
}

/** The Deployment is deleted with `--cascade=orphan`: the garbage collector removes the references to it. */
function orphan(at: PolicyLab): void {
  removeReferences(at, at.world.api.all<ReplicaSet>(ReplicaSet));
  void at.world.api.delete(Deployment, at.deployment.metadata);
}

function removeReferences({ deployment, world }: PolicyLab, sets: readonly ReplicaSet[]): void {
  const isOther = ({ uid }: { readonly uid: string }): boolean => uid !== deployment.metadata.uid;
  for (const set of sets) {
    const ownerReferences = set.metadata.ownerReferences?.filter(isOther) ?? [];
    world.api.seed(ReplicaSet, { ...set, metadata: { ...set.metadata, ownerReferences } });
  }
}

describe('an experiment whose Deployment was deleted with --cascade=orphan', () => {
  const WEB = { namespace: 'default', name: 'web' };
  let web: PolicyLab;

  beforeEach(async () => {
    web = await lab({});
    await begun(web);
  });

  it('wakes the key of the Deployment, in case the cache shows its own end later than that of the Deployment', () => {
    const { changing } = watching(web);
    expect(changing(() => removeReferences(web, setsIn(web)))).toEqual(['default/web']);
  });

  it('ends with its Services, and the ReplicaSets of the Deployment stay', async () => {
    const kept = web.world.replicaSets.map(({ metadata }) => metadata.name);
    orphan(web);
    await web.world.sync(WEB);
    expect(setsIn(web)).toEqual([]);
    expect(web.world.replicaSets.map(({ metadata }) => metadata.name)).toEqual(kept);
    await web.world.settle();
    expect(madeIn(web)).toEqual([]);
  });

  it('ends if another Deployment of the name has come meanwhile', async () => {
    const { deployment } = web;
    orphan(web);
    web.world.api.seed(Deployment, {
      ...deployment,
      metadata: { ...deployment.metadata, uid: 'another', annotations: {} },
    });
    await web.world.sync();
    expect(setsIn(web)).toEqual([]);
  });

  it.each<[string, (set: ReplicaSet) => void]>([
    ['has another owner', ({ metadata }) => void (metadata.ownerReferences = [aReference('someone')])],
    ['is of another Deployment', ({ metadata }) => void (metadata.labels![EXPERIMENT_OF] = 'shop')],
    ['has another name', ({ metadata }) => void (metadata.name = `x-${metadata.name}`)],
    ['has no time at which it ends', ({ metadata }) => void (metadata.annotations = {})],
  ])('is not taken for one that %s', async (_which, change) => {
    const sets = setsIn(web).map((set) => structuredClone(set));
    orphan(web);
    for (const set of sets) {
      await web.world.api.delete(ReplicaSet, set.metadata);
      set.metadata.ownerReferences = [];
      change(set);
      web.world.api.seed(ReplicaSet, set);
    }
    await web.world.sync(WEB);
    expect(setsIn(web)).toHaveLength(sets.length);
  });
});

function aReference(name: string) {
  return { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: `uid-of-${name}` };
}

async function begun(at: PolicyLab): Promise<void> {
  await at.image('app:2');
  at.world.startExperiments();
  await at.pass(2000);
  await at.pass(2000);
}

describe('the Services of an experiment', () => {
  let web: PolicyLab;

  beforeEach(async () => {
    web = await lab({});
  });

  it('are one for each version, select its pods alone, and belong to its ReplicaSet', async () => {
    await begun(web);
    const made = madeIn(web);
    expect(made).toHaveLength(2);
    for (const { metadata, spec } of made) {
      const set = setsIn(web).find((each) => each.metadata.name === metadata.name);
      expect(metadata.ownerReferences).toEqual([
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: set?.metadata.name, uid: set?.metadata.uid },
      ]);
      expect(set?.spec.template?.metadata?.labels).toMatchObject(spec.selector ?? { none: '' });
      expect(spec.selector).not.toHaveProperty('app');
      for (const other of setsIn(web).filter((each) => each !== set))
        expect(other.spec.template?.metadata?.labels).not.toMatchObject(spec.selector ?? {});
      expect(spec.ports).toEqual(PORTS);
    }
    expect(web.eventsOf('ServiceCreated')).toHaveLength(2);
  });

  it('exist before its time begins, and are gone with the step', async () => {
    await web.image('app:2');
    const [made] = madeIn(web);
    expect(made).toBeDefined();
    web.world.startExperiments();
    await web.pass(2000);
    expect(web.condition()).toContain('runs an experiment until');
    expect(madeIn(web)).toHaveLength(2);
    await web.pass(10 * MINUTE_MS);
    expect(setsIn(web)).toEqual([]);
    expect(madeIn(web)).toEqual([]);
  });

  it.each([
    ['the rollout is aborted', (at: PolicyLab) => at.annotate('abort', 'anna')],
    ['another version comes', (at: PolicyLab) => at.image('app:1')],
    ['the steps are removed', (at: PolicyLab) => at.annotate('steps', undefined)],
  ])('are gone when %s', async (_when, change) => {
    await begun(web);
    await change(web);
    expect(madeIn(web)).toEqual([]);
    expect(web.world.api.all<Service>(Service).map(({ metadata }) => metadata.name)).toEqual(['web']);
  });

  it('are not made unless the step says so', async () => {
    const without = await lab({ policies: { steps: 'experiment 10m: canary 1; 100%' } });
    await begun(without);
    expect(setsIn(without)).toHaveLength(1);
    expect(madeIn(without)).toEqual([]);
  });

  it('are made again if another hand deletes one', async () => {
    await begun(web);
    const [first] = madeIn(web);
    await web.world.api.delete(Service, first!.metadata);
    await web.pass(2000);
    expect(madeIn(web)).toHaveLength(2);
  });

  it('wake their Deployment when another hand deletes one, and not when they change or go with their ReplicaSet', async () => {
    await begun(web);
    const { changing } = watching(web);
    const [first, second] = madeIn(web);
    const { api } = web.world;
    expect(changing(() => api.delete(Service, first!.metadata))).toEqual(['default/web']);
    const relabelled = { ...second!, metadata: { ...second!.metadata, labels: { of: 'anna' } } };
    expect(changing(() => api.seed(Service, relabelled))).toEqual([]);
    const set = setsIn(web).find(({ metadata }) => metadata.name === second!.metadata.name);
    changing(() => api.delete(ReplicaSet, set!.metadata));
    expect(changing(() => api.delete(Service, second!.metadata))).toEqual([]);
  });

  it('are not watched unless experiments may have Services', async () => {
    const off = await lab({ experimentServices: false });
    const { types } = watching(off, false);
    expect(types).not.toContain('services');
    expect(watching(web).types).toContain('services');
  });

  it('have the ports of all Services that select the pods, each number once and with a name of its own', async () => {
    const services = [
      aService('web', { ports: [{ port: 80, targetPort: 'http', nodePort: 30_080 }] }),
      aService('metrics', { ports: [{ name: 'metrics', port: 9090, targetPort: 9090, protocol: 'TCP' }] }),
      aService('stable', { selector: { app: 'web', 'pod-template-hash': 'a' }, ports: PORTS }),
      aService('others', { selector: { app: 'other' }, ports: [{ port: 1, targetPort: 1 }] }),
      aService('all', { selector: {}, ports: [{ port: 2, targetPort: 2 }] }),
      aService('web', { ports: [{ port: 3, targetPort: 3 }] }, 'other'),
    ];
    const several = await lab({ services });
    await begun(several);
    for (const { spec } of madeIn(several))
      expect(spec.ports?.map(({ name, nodePort, port }) => ({ name, nodePort, port }))).toEqual([
        { name: 'metrics', nodePort: undefined, port: 9090 },
        { name: 'http', nodePort: undefined, port: 80 },
      ]);
  });

  it('have the ports of the containers where no Service selects the pods', async () => {
    const named = [{ name: 'http', containerPort: 8080 }, { containerPort: 9090 }];
    const alone = await lab({ services: [], spec: containing(named) });
    await begun(alone);
    expect(madeIn(alone).map(({ spec }) => spec.ports)).toEqual(
      Array(2).fill([
        { name: 'http', port: 8080, targetPort: 8080 },
        { name: 'port-9090', port: 9090, targetPort: 9090 },
      ]),
    );
  });

  it('hold the rollout before any pod if they can have no ports, and say so', async () => {
    const without = await lab({ services: [] });
    await begun(without);
    expect(setsIn(without)).toEqual([]);
    expect(without.condition()).toContain('cannot begin its experiment: Service "web-experiment-baseline-');
    expect(without.condition()).toContain('its containers name none');
    expect(without.condition('RolloutPolicy')).toContain('False ServiceNotUsable');
    expect(without.sizes).toEqual({ 'app:1': 3 });
  });

  it('hold the rollout where the controller makes none, and name the option', async () => {
    const off = await lab({ experimentServices: false });
    await begun(off);
    expect(setsIn(off)).toEqual([]);
    expect(off.condition('RolloutPolicy')).toContain('ServicesNotWatched');
    expect(off.condition('RolloutPolicy')).toContain('start the controller with --experiment-services');
  });

  it('hold the rollout while another Service has the name of one, and have all of the time once it is gone', async () => {
    await begun(web);
    const names = madeIn(web).map(({ metadata }) => metadata.name);
    const name = names.find((each) => each.includes('canary')) ?? '';
    await web.annotate('steps', undefined);
    const taken = await lab({ services: [aService('web'), aService(name)] });
    await begun(taken);
    const message = `Service "${name}" exists, and is not one of its experiment`;
    expect(taken.condition()).toContain(message);
    expect(taken.condition('RolloutPolicy')).toContain(message);
    expect(setsIn(taken)).toEqual([]);
    await taken.pass(60 * MINUTE_MS);
    expect(taken.condition()).toContain(message);
    await taken.world.api.delete(Service, { namespace: 'default', name });
    await taken.pass(30_000);
    expect(setsIn(taken)).toHaveLength(2);
    expect(taken.condition('RolloutPolicy')).toBe('none');
    taken.world.startExperiments();
    await taken.pass(9 * MINUTE_MS);
    expect(taken.condition()).toContain('runs an experiment until');
    expect(madeIn(taken)).toHaveLength(2);
  });

  it('never change a Service that has the name of one', async () => {
    await begun(web);
    const [{ metadata } = {}] = madeIn(web);
    const foreign = aService(metadata?.name ?? '', { selector: { app: 'other' } });
    web.world.api.seed(Service, foreign);
    await web.pass(2000);
    await web.annotate('abort', 'anna');
    const found = web.world.api.all<Service>(Service).find((each) => each.metadata.name === metadata?.name);
    expect(found?.spec).toEqual(foreign.spec);
  });

  it('select by labels of their own, whatever another hand gives a ReplicaSet, and are in its namespace alone', async () => {
    await web.image('app:2');
    await web.annotate('steps', undefined);
    const forged = await lab({ policies: {} });
    await forged.annotate('steps', STEPS);
    let planted = 0;
    const create = forged.world.api.create.bind(forged.world.api);
    forged.world.api.create = (type, object) => {
      if (type !== ReplicaSet || object.metadata.labels?.[EXPERIMENT] === undefined)
        return create(type, object);
      planted += 1;
      const labels = { [EXPERIMENT]: 'mine', app: 'payments' };
      const metadata = { ...object.metadata, labels };
      forged.world.api.seed(type, { ...object, metadata: { ...metadata, uid: 'o', namespace: 'other' } });
      return create(type, { ...object, metadata });
    };
    await begun(forged);
    expect(planted).toBe(2);
    const made = madeIn(forged);
    expect(made.map(({ metadata }) => metadata.namespace)).toEqual(['default', 'default']);
    for (const { spec } of made) {
      expect(spec.selector).not.toHaveProperty('app');
      expect(spec.selector?.[EXPERIMENT]).toMatch(/^x[0-9a-f]{10}$/);
    }
  });

  it('are waited for while the server refuses one, which an Event reports, and not longer than for the pods', async () => {
    await web.image('app:2');
    await web.annotate('steps', undefined);
    const refused = await lab({});
    const create = refused.world.api.create.bind(refused.world.api);
    refused.world.api.create = (type, object) =>
      type === Service ? Promise.reject(refusal(403)) : create(type, object);
    await refused.image('app:2').catch(() => undefined);
    refused.world.startExperiments();
    await refused.pass(2000).catch(() => undefined);
    expect(refused.condition()).toMatch(/waits for the Services of its experiment \(not there yet: web-exp/);
    expect(refused.eventsOf('ServiceNotUsable')[0]).toContain('of an experiment cannot be made');
    expect(refused.eventsOf('ServiceCreated')).toEqual([]);
    await refused.pass(10 * MINUTE_MS);
    expect(refused.condition()).toContain('were not available in time, and are removed');
    expect(setsIn(refused)).toEqual([]);
  });

  it('are made once, also by a process that follows one which died at any of its writes', async () => {
    for (let [effect, died] = [1, true]; died; effect++) {
      const at = await lab({});
      let left = effect;
      at.world.onEffect = () => {
        if (--left === 0) throw refusal(500);
      };
      await at.image('app:2').catch(() => undefined);
      await at.rest();
      at.world.startExperiments();
      await at.pass(2000).catch(() => undefined);
      await at.rest();
      died = left <= 0;
      const owners = madeIn(at).map(({ metadata }) => metadata.ownerReferences?.[0]?.name);
      expect(new Set(owners).size, `write ${effect}`).toBe(2);
      expect(owners, `write ${effect}`).toHaveLength(2);
      expect(at.condition(), `write ${effect}`).toContain('runs an experiment until');
    }
  });

  it('have names that a Service may have, and that of the ReplicaSet where it may', () => {
    const of = (name: string, side: 'canary' | 'revision-123456789012345678') => {
      const draft = { name, observed: { metadata: { name, uid: `uid-of-${name}` } } };
      return sideName(draft as never, { annotations: {} } as never, 1, side);
    };
    const plain = of('web', 'canary');
    expect(plain.service).toBe(plain.replicaSet);
    for (const name of ['a.b.c', '7up', 'a'.repeat(63), `${'a'.repeat(100)}.b`])
      for (const side of ['canary', 'revision-123456789012345678'] as const) {
        const { service } = of(name, side);
        expect(service).toMatch(/^[a-z]([-a-z0-9]*[a-z0-9])?$/);
        expect(service.length).toBeLessThanOrEqual(63);
      }
    expect(of('a'.repeat(70), 'canary').service).not.toBe(of('a'.repeat(71), 'canary').service);
  });

  it('are named by checks of the step, whose requests may go to them', async () => {
    const asked: string[] = [];
    const controller = createDeploymentController({
      experimentServices: true,
      checks: {
        hosts: parseHostRules('prometheus.test', 'check-hosts'),
        sender: {
          send: ({ url }) => {
            asked.push(new URL(url).searchParams.get('query') ?? '');
            const data = { resultType: 'scalar', result: [1, '0'] };
            return Promise.resolve({ status: 200, body: JSON.stringify({ status: 'success', data }) });
          },
        },
      },
    });
    const prometheus = {
      address: 'http://prometheus.test',
      query: 'x{{service}}y{{stable-service}}',
      condition: '< 1',
    };
    const steps = 'experiment 10m: baseline 1, canary 1, check slo, services; 100%';
    const at = await PolicyLab.rolledOut(
      { steps },
      { replicas: 3 },
      {
        controller,
        prepare: ({ world }) => {
          world.api.seed(Service, aService('web'));
          const metadata = { namespace: 'default', name: 'rollkeeper-checks' };
          const data = { slo: JSON.stringify({ prometheus }) };
          world.api.seed(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
        },
      },
    );
    await begun(at);
    const nameOf = (side: string) =>
      madeIn(at).find(({ metadata }) => metadata.labels?.[EXPERIMENT_SIDE] === side)?.metadata.name;
    expect(asked[0]).toBe(`x${nameOf('canary')}y${nameOf('baseline')}`);
  });
});

describe('the ports of several sources', () => {
  it('are one for each number and protocol, the first one, with names that differ', () => {
    const ports = [
      { port: 53, protocol: 'UDP' as const },
      { port: 53, protocol: 'TCP' as const },
      { name: 'port-53', port: 54 },
      { name: 'dns', port: 53 },
    ];
    expect(distinctPorts(ports)).toEqual([
      { name: 'port-53', port: 53, protocol: 'UDP' },
      { name: 'port-53-tcp', port: 53, protocol: 'TCP' },
      { name: 'port-54', port: 54 },
    ]);
  });
});

describe('the word services', () => {
  it.each([
    'experiment 10m: canary 1, services',
    'experiment 10m: baseline 1, canary 1, check a, services, serving',
  ])('is read in %s', (text) => {
    const parsed = parseSteps(text);
    expect('steps' in parsed && parsed.steps).toMatchObject([{ hasServices: true }]);
  });

  it.each(['services 2', 'services, services', 'service'])('is not read in %s', (words) => {
    expect(parseSteps(`experiment 10m: canary 1, ${words}`)).toHaveProperty('problem');
  });
});
