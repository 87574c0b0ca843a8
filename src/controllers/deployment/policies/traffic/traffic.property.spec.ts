import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pod, isPodReady, isTerminating } from '../../../../machinery/kubernetes/index.js';
import type { ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import { setImage } from '../../../../testing/deployment-builder.js';
import { P, imageOf } from '../../../../testing/policy-lab.js';
import { propertyRuns } from '../../../../testing/property-runs.js';
import { BROKEN_IMAGE, refusal } from '../../../../testing/rollout-world.js';
import { brokenTrafficRules } from '../../../../testing/traffic-rules.js';
import type { LedVersions } from '../../../../testing/traffic-rules.js';
import { TrafficLab, bothServices } from './traffic-lab.fixture.js';

/*
 * Invariants of every single write, for any changes of a person, losses of pods, refusals and deaths in between: those of
 * `brokenTrafficRules`, and a version that a person wants, and that works, has all requests and all pods in the end, and the route is
 * as it was before.
 */
const runs = propertyRuns({ gate: 25 });

const action = fc.oneof(
  fc.record({ image: fc.constantFrom('app:1', 'app:2', 'app:3') }),
  fc.record({ image: fc.constant(BROKEN_IMAGE) }),
  fc.record({ ask: fc.constantFrom('approve', 'abort', 'retry') }),
  fc.record({ replicas: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ seconds: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ gateway: fc.boolean() }),
  fc.record({ endpoints: fc.boolean() }),
  fc.record({ edit: fc.integer({ min: 0, max: 100 }) }),
  fc.record({ lost: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ diesAtWrite: fc.integer({ min: 1, max: 6 }) }),
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Each version at one moment, by the name of its ReplicaSet. */
function look(traffic: TrafficLab): LedVersions {
  const { world } = traffic.lab;
  const [stable = 0, canary = 0] = traffic.weights();
  const added = (traffic.routes[0]?.spec.rules?.length ?? 1) - 1;
  const selects = (set: ReplicaSet, service: string): boolean =>
    world.podsOf(set).some((pod) => traffic.podsBehind(service).includes(pod)) ||
    set.metadata.labels?.['pod-template-hash'] ===
      (traffic.service(service)?.spec.selector?.['pod-template-hash'] ?? 'none');
  return new Map(
    world.replicaSets.map((set) => {
      const isStable = selects(set, 'web-stable');
      const isCanary = selects(set, 'web-canary');
      const weight = (isStable ? stable : 0) + (isCanary ? canary : 0);
      const share = weight + (isCanary ? added : 0);
      const ready = world.podsOf(set).filter((pod) => isPodReady(pod) && !isTerminating(pod)).length;
      return [set.metadata.name, { size: set.spec.replicas ?? 1, ready, share, weight, isStable }];
    }),
  );
}

const DRAIN_MS = 3000;

class Judge {
  private last: LedVersions;
  private readonly sharedAtMs = new Map<string, number>();
  /** Writes until the process dies. */
  private left = Infinity;

  constructor(
    private readonly traffic: TrafficLab,
    private readonly isDynamic: boolean,
  ) {
    this.last = look(traffic);
    traffic.lab.world.onEffect = () => {
      this.judge();
      if (--this.left <= 0) {
        this.left = Infinity;
        throw refusal(500);
      }
    };
    traffic.onChange = () => void (this.last = look(traffic));
  }

  async carryOut(act: Action): Promise<void> {
    const { traffic } = this;
    const { world } = traffic.lab;
    if ('image' in act) world.change((deployment) => setImage(deployment, act.image));
    if ('ask' in act)
      world.change(({ metadata }) => {
        metadata.annotations = { ...metadata.annotations, [P + act.ask]: 'me' };
      });
    if ('replicas' in act) world.change(({ spec }) => void (spec.replicas = act.replicas));
    if ('gateway' in act) traffic.isGatewayThere = act.gateway;
    if ('endpoints' in act) traffic.hasEndpoints = act.endpoints;
    if ('edit' in act) traffic.edit(100 - act.edit, act.edit);
    if ('diesAtWrite' in act) this.left = act.diesAtWrite;
    if ('lost' in act) {
      const pod = world.allPods[act.lost];
      if (pod) await world.api.delete(Pod, pod.metadata);
    }
    for (let second = 0; second < ('seconds' in act ? act.seconds : 1); second++) await this.second();
  }

  async second(): Promise<void> {
    const { traffic } = this;
    const { world } = traffic.lab;
    traffic.lab.clock.move(1000);
    for (let before = -1, rounds = 0; before !== world.api.changes && rounds < 100; rounds++) {
      before = world.api.changes;
      this.last = look(traffic);
      await world.sync().catch(() => void world.api.changes++);
      this.judge();
      await traffic.follow();
    }
  }

  private judge(): void {
    const now = look(this.traffic);
    const { clock, deployment } = this.traffic.lab;
    const replicas = deployment.spec.replicas ?? 1;
    const { isDynamic, sharedAtMs } = this;
    const times = { isDynamic, replicas, nowMs: clock.now(), drainMs: DRAIN_MS, sharedAtMs };
    expect(brokenTrafficRules(this.last, now, times)).toEqual([]);
    this.last = now;
  }
}

describe(`requests in any circumstances (SEED=${runs.seed})`, () => {
  it('go to versions with ready pods, and to the wanted one in the end', async () => {
    const steps = fc.constantFrom(
      '1; weight 5%; approve; weight 50%; approve',
      'weight 20%; wait 5s',
      '100%; approve',
      'header a=b; approve; weight 20%; cookie c=d; approve; header off; weight 60%; approve',
      'mirror 50%; approve; mirror 0%; weight 50%; wait 5s; weight 10%; approve',
    );
    const property = fc.asyncProperty(
      steps,
      fc.constantFrom('none', 'rollback'),
      fc.constantFrom('whole', 'dynamic'),
      fc.boolean(),
      fc.array(action, { minLength: 1, maxLength: 12 }),
      async (drawn, onFailure, stable, isSticky, actions) => {
        const policies = {
          ...{ steps: drawn, 'on-failure': onFailure, 'traffic-drain': '3s', 'traffic-stable': stable },
          ...(isSticky && { 'traffic-sticky': '1h' }),
        };
        const traffic = await TrafficLab.rolledOut({ policies, rules: [bothServices()] });
        const judge = new Judge(traffic, stable === 'dynamic');
        for (const act of actions) await judge.carryOut(act);
        traffic.isGatewayThere = true;
        traffic.hasEndpoints = true;
        const { world } = traffic.lab;
        world.change((deployment) => {
          const {
            [`${P}steps`]: _steps,
            [`${P}abort`]: _abort,
            ...others
          } = deployment.metadata.annotations ?? {};
          deployment.metadata.annotations = others;
          setImage(deployment, 'app:last');
        });
        for (let second = 0; second < 30; second++) await judge.second();
        expect(traffic.lab.sizes).toEqual({ 'app:last': world.deployment.spec.replicas });
        expect([traffic.selected('web-stable'), traffic.selected('web-canary')]).toEqual([
          'app:last',
          'app:last',
        ]);
        expect(traffic.routes[0]?.spec.rules).toEqual([bothServices()]);
        expect(world.replicaSets.filter((set) => imageOf(set) === 'app:last')).toHaveLength(1);
      },
    );
    await fc.assert(property, runs);
  });
});
