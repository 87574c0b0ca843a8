import { Session, type Profiler } from 'node:inspector/promises';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../machinery/clock/index.js';
import type { Deployment } from '../../machinery/kubernetes/index.js';
import { aDeployment, setImage } from '../../testing/deployment-builder.js';
import { PolicyLab } from '../../testing/policy-lab.js';
import { BROKEN_IMAGE, RolloutWorld } from '../../testing/rollout-world.js';

const POLICIES = '/controllers/deployment/policies/';

/** Names the functions in the folder of the policies that were called while `run` ran. */
async function calledPolicies(run: () => Promise<void>): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
    await run();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result.filter(({ url }) => url.includes(POLICIES)).flatMap(callsIn);
  } finally {
    session.disconnect();
  }
}

function callsIn({ functions, url }: Profiler.ScriptCoverage): readonly string[] {
  const file = url.slice(url.indexOf(POLICIES) + POLICIES.length);
  return (
    functions
      // In Vitest, a getter without a name returns an exported constant.
      .filter(({ functionName, ranges }) => functionName !== '' && ranges.some(({ count }) => count > 0))
      .map(({ functionName }) => `${file} ${functionName}`)
  );
}

/** Rolls out, scales, pauses, rolls back, gets stuck and recovers. */
async function live(deployment: Deployment): Promise<void> {
  const world = new RolloutWorld({ deployment, random: new SeededRandom(1) });
  const rest = async (): Promise<void> => {
    for (let before = -1; before !== world.api.changes;) {
      before = world.api.changes;
      await world.sync();
      await world.settle();
    }
  };
  const change = async (edit: (deployment: Deployment) => void): Promise<void> => {
    world.change(edit);
    await rest();
  };
  await rest();
  await change((changed) => setImage(changed, 'app:2'));
  await change(({ spec }) => void (spec.replicas = 5));
  await change(({ spec }) => void (spec.paused = true));
  await change(({ spec }) => void (spec.paused = false));
  await change(({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, 'deprecated.deployment.rollback.to': '1' };
  });
  await change((changed) => setImage(changed, BROKEN_IMAGE));
  await change((changed) => setImage(changed, 'app:3'));
  await change(({ spec }) => void (spec.strategy = { type: 'Recreate' }));
  await change((changed) => setImage(changed, 'app:4'));
}

describe('A Deployment that asks for no policy', () => {
  it('is decided by the algorithm of Kubernetes alone: no function of a policy is called', async () => {
    const deployment = aDeployment({ annotations: { 'example.com/team': 'shop' } });
    // Loads all modules, which runs their top levels.
    await live(structuredClone(deployment));
    expect(await calledPolicies(() => live(deployment))).toEqual([]);
  });

  it('is distinguished from one that asks for a policy by an annotation', async () => {
    const called = await calledPolicies(async () => {
      await PolicyLab.rolledOut({ freeze: 'holidays' });
    });
    expect(called).toContainEqual(expect.stringMatching(/ compilePolicy$/));
  });

  it('is under policies again as long as one has left a trace', async () => {
    const lab = await PolicyLab.rolledOut({ steps: '1; approve' });
    await lab.image('app:2');
    const called = await calledPolicies(() => lab.annotate('steps', undefined));
    expect(called).toContainEqual(expect.stringMatching(/ compilePolicy$/));
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });
});
