import { beforeEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../machinery/clock/index.js';
import { ReplicaSet } from '../../../machinery/kubernetes/index.js';
import type { PodTemplateSpec } from '../../../machinery/kubernetes/index.js';
import { FakeCluster } from '../../../testing/fake-cluster.js';
import { MovedClock } from '../../../testing/moved-clock.js';
import type { RunningController } from '../../../testing/run-controller.js';
import { runController } from '../../../testing/run-controller.js';
import { parseHostRules } from '../policies/checks/check-hosts.js';
import type { HttpSender } from '../policies/checks/common/http-sender.js';
import { experimentId, experimentKeeper, experimentMember, plannedTemplate } from './build-experiment.js';
import { parseExperimentFile } from './experiment-file.js';
import type { ExperimentPlan } from './experiment-plan.js';
import { EXPERIMENT_PLAN, EXPERIMENT_STOP } from './experiment-plan.js';
import { EXPERIMENT_STATE, readExperimentState } from './experiment-state.js';
import { createExperimentsController } from './experiments-controller.js';

const MINUTE_MS = 60_000;
const CHECK = {
  prometheus: { address: 'http://prometheus:9090', query: 'errors{{hash}}', condition: '< 1' },
  interval: '1m',
  count: 3,
};
const FILE = {
  name: 'sizes',
  duration: '10m',
  templates: [
    { name: 'small', replicas: 2, template: podsOf('app:small') },
    { name: 'large', replicas: 1, template: podsOf('app:large') },
  ],
};

function podsOf(image: string): PodTemplateSpec {
  return {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'app', image }] },
  };
}

class Lab {
  readonly cluster = new FakeCluster();
  readonly clock = new MovedClock(Date.parse('2026-01-01T12:00:00Z'));
  /** The answer of Prometheus. */
  value: string | undefined = '0';
  readonly queries: string[] = [];
  private running: RunningController;
  private readonly id = experimentId('sizes', new SeededRandom(1));

  constructor(private readonly measures = true) {
    this.running = this.replica();
  }

  private replica(): RunningController {
    const sender: HttpSender = {
      send: ({ url }) => {
        this.queries.push(new URL(url).searchParams.get('query') ?? '');
        const result = this.value === undefined ? [] : [{ metric: {}, value: [0, this.value] }];
        const body = JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
        return Promise.resolve({ status: 200, body });
      },
    };
    const checks = { hosts: parseHostRules('prometheus:9090', 'hosts'), sender };
    const controller = createExperimentsController(this.measures ? { checks } : {});
    return runController(controller, this.cluster, { clock: this.clock });
  }

  /** Another replica takes over, and knows only what the API has. */
  takeOver(): void {
    this.running.stopWatching();
    this.running = this.replica();
    this.running.add(`shop/${this.id}`);
  }

  async begin(checks: readonly unknown[] = []): Promise<void> {
    const parsed = parseExperimentFile(JSON.stringify({ ...FILE, checks }));
    if ('problem' in parsed) throw new Error(parsed.problem);
    const { file } = parsed;
    const resolved = file.templates.map((asked) => ({ asked, pods: asked.template ?? {} }));
    const plan: ExperimentPlan = {
      name: file.name,
      durationMs: file.duration,
      startWithinMs: file.startWithin,
      keepMs: file.keep,
      templates: resolved.map((each) => plannedTemplate(this.id, each)),
      checks: file.checks.map(({ against, check, name, of = 'large' }) => ({
        ...{ name, of, definition: JSON.stringify(check) },
        ...(against !== undefined && { against }),
      })),
    };
    const wanted = experimentKeeper({ id: this.id, namespace: 'shop' }, plan, resolved[0]?.pods ?? {});
    wanted.metadata.creationTimestamp = '2026-01-01T12:00:00Z';
    this.cluster.seed(ReplicaSet, wanted);
    for (const each of resolved)
      await this.cluster.create(ReplicaSet, experimentMember(this.keeper, plan, each, this.clock.now()));
    await this.rest();
  }

  get keeper(): ReplicaSet {
    const found = this.sets.find(({ metadata }) => metadata.name === this.id);
    if (!found) throw new Error('the experiment is forgotten');
    return found;
  }

  get sets(): readonly ReplicaSet[] {
    return this.cluster.all<ReplicaSet>(ReplicaSet);
  }

  get members(): readonly string[] {
    return this.sets.map(({ metadata }) => metadata.name).filter((name) => name !== this.id);
  }

  get state() {
    return readExperimentState(this.keeper);
  }

  get events(): readonly string[] {
    return this.running.events;
  }

  async becomeAvailable(): Promise<void> {
    for (const set of this.sets)
      if (set.metadata.name !== this.id)
        this.cluster.seed(ReplicaSet, {
          ...set,
          status: { replicas: set.spec.replicas ?? 1, availableReplicas: set.spec.replicas },
        });
    await this.rest();
  }

  async annotate(name: string, value: string): Promise<void> {
    const { keeper } = this;
    keeper.metadata.annotations = { ...keeper.metadata.annotations, [name]: value };
    await this.cluster.update(ReplicaSet, keeper);
    await this.rest();
  }

  async deleteMember(name: string): Promise<void> {
    await this.cluster.delete(ReplicaSet, { namespace: 'shop', name });
    await this.rest();
  }

  async pass(ms: number): Promise<void> {
    this.clock.move(ms);
    this.running.add(`shop/${this.id}`);
    await this.rest();
  }

  async rest(): Promise<void> {
    expect([...(await this.running.drain()).errors]).toEqual([]);
  }
}

describe('an experiment outside of a rollout', () => {
  let lab: Lab;

  beforeEach(() => {
    lab = new Lab();
  });

  it('begins its time when all pods are available, passes after it, and its pods are removed', async () => {
    await lab.begin();
    expect(lab.state).toEqual({});
    await lab.pass(MINUTE_MS);
    await lab.becomeAvailable();
    expect(lab.state).toMatchObject({ began: '2026-01-01T12:01:00Z', until: '2026-01-01T12:11:00Z' });
    await lab.pass(10 * MINUTE_MS - 1000);
    expect(lab.members).toHaveLength(2);
    await lab.pass(1000);
    expect(lab.state).toMatchObject({ verdict: 'passed', ended: '2026-01-01T12:11:00Z' });
    expect(lab.members).toEqual([]);
    expect(lab.events.map((event) => event.split(' ')[1])).toEqual(['ExperimentStarted', 'ExperimentEnded']);
  });

  it('fails if its pods are not available in time, and says which', async () => {
    await lab.begin();
    await lab.pass(10 * MINUTE_MS);
    expect(lab.state).toMatchObject({
      verdict: 'failed',
      why: 'its pods were not available within 10m (small 0 of 2, large 0 of 1)',
    });
    expect(lab.members).toEqual([]);
  });

  it('measures its checks about the pods of their templates, and passes by them', async () => {
    await lab.begin([{ name: 'errors', of: 'small', against: 'large', check: CHECK }]);
    await lab.becomeAvailable();
    for (let minute = 0; minute < 10; minute++) await lab.pass(MINUTE_MS);
    expect(lab.state.verdict).toBe('passed');
    const small = lab.queries[0] ?? '';
    expect(small).toMatch(/^errorsx[0-9a-f]{10}$/);
    expect(lab.queries.length, 'it is measured all the way').toBeGreaterThan(8);
  });

  it('ends as soon as a check fails', async () => {
    await lab.begin([{ name: 'errors', check: CHECK }]);
    await lab.becomeAvailable();
    lab.value = '5';
    await lab.pass(2 * MINUTE_MS);
    expect(lab.state).toMatchObject({ verdict: 'failed', why: 'check errors failed: 5 is not < 1' });
    expect(lab.members).toEqual([]);
  });

  it('is inconclusive if a check has too few measurements when the time is over', async () => {
    lab.value = undefined;
    await lab.begin([{ name: 'errors', check: CHECK }]);
    await lab.becomeAvailable();
    for (let minute = 0; minute < 10; minute++) await lab.pass(MINUTE_MS);
    expect(lab.state.verdict).toBe('inconclusive');
    expect(lab.state.why).toContain('check errors has no verdict');
    expect(lab.members).toEqual([]);
  });

  it('is inconclusive at once if nothing measures its checks', async () => {
    lab = new Lab(false);
    await lab.begin([{ name: 'errors', check: CHECK }]);
    await lab.becomeAvailable();
    expect(lab.state).toMatchObject({ verdict: 'inconclusive' });
    expect(lab.state.why).toContain('--rollout-checks');
    expect(lab.members).toEqual([]);
  });

  it('is stopped by its annotation', async () => {
    await lab.begin();
    await lab.annotate(EXPERIMENT_STOP, 'anna');
    expect(lab.state).toMatchObject({ verdict: 'stopped', why: 'stopped, claimed by anna' });
    expect(lab.members).toEqual([]);
  });

  it('ends, and its pods are removed, if its plan cannot be read', async () => {
    await lab.begin();
    await lab.annotate(EXPERIMENT_PLAN, '{"name": 3}');
    expect(lab.state.verdict).toBe('failed');
    expect(lab.members).toEqual([]);
  });

  it('fails if one of its ReplicaSets is deleted while it runs', async () => {
    await lab.begin();
    await lab.becomeAvailable();
    const [first = ''] = lab.members;
    await lab.deleteMember(first);
    expect(lab.state).toMatchObject({ verdict: 'failed', why: `ReplicaSet ${first} was deleted` });
    expect(lab.members).toEqual([]);
  });

  it('is carried on by another replica from what the API has', async () => {
    await lab.begin([{ name: 'errors', check: CHECK }]);
    await lab.becomeAvailable();
    await lab.pass(MINUTE_MS);
    const { began } = lab.state;
    lab.takeOver();
    for (let minute = 0; minute < 9; minute++) await lab.pass(MINUTE_MS);
    expect(lab.state).toMatchObject({ began, verdict: 'passed' });
    expect(lab.members).toEqual([]);
  });

  it('is forgotten when its result has been kept long enough', async () => {
    await lab.begin();
    await lab.annotate(EXPERIMENT_STOP, 'anna');
    await lab.pass(7 * 24 * 60 * MINUTE_MS - 1000);
    expect(lab.sets).toHaveLength(1);
    await lab.pass(1000);
    expect(lab.sets).toEqual([]);
  });

  it('ends when its plan says so, whatever times another hand writes into its state', async () => {
    await lab.begin();
    await lab.annotate(
      EXPERIMENT_STATE,
      JSON.stringify({ began: '9999-01-01T00:00:00Z', until: '9999-12-31T23:59:59Z' }),
    );
    await lab.pass(20 * MINUTE_MS);
    expect(lab.state.verdict).toBe('passed');
    expect(lab.members).toEqual([]);
  });

  it('deletes no ReplicaSet that is not its own, whatever its plan names', async () => {
    await lab.begin();
    const other = { ...lab.keeper, metadata: { name: 'web-1', namespace: 'shop', uid: 'other' } };
    lab.cluster.seed(ReplicaSet, other);
    const plan = lab.keeper.metadata.annotations?.[EXPERIMENT_PLAN] ?? '';
    await lab.annotate(EXPERIMENT_PLAN, plan.replaceAll(/"replicaSet":"[^"]+"/g, '"replicaSet":"web-1"'));
    await lab.annotate(EXPERIMENT_STOP, 'anna');
    expect(lab.sets.map(({ metadata }) => metadata.name)).toContain('web-1');
  });
});
