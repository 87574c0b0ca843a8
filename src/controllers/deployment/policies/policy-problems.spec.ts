import { describe, expect, it } from 'vitest';
import { deploymentPolicyProblems, namespacePolicyProblems } from './policy-problems.js';

const P = 'rollkeeper.dev/';

function named(settings: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [P + name, value]));
}

function ofDeployment(
  settings: Record<string, string>,
  {
    defaults = {},
    strategy = 'RollingUpdate',
  }: { defaults?: Record<string, string>; strategy?: 'RollingUpdate' | 'Recreate' } = {},
): string[] {
  const deployment = {
    metadata: { name: 'web', namespace: 'a', annotations: named(settings) },
    spec: {
      selector: {},
      template: { metadata: {}, spec: { containers: [] } },
      strategy: { type: strategy },
    },
  };
  return deploymentPolicyProblems(deployment, named(defaults)).map(shown);
}

function shown({
  field,
  isElsewhere,
  value,
  why,
}: ReturnType<typeof namespacePolicyProblems>[number]): string {
  return `${isElsewhere ? 'elsewhere ' : ''}${field.replace('metadata.annotations', '')} ${value}: ${why}`;
}

describe('the problems of a policy, before it is stored', () => {
  it.each([
    [{ 'bake-time': '10m', 'on-failure': 'rollback' }, []],
    [
      { 'bake-tme': '10m' },
      [
        '[rollkeeper.dev/bake-tme] 10m: is under a name that is not known; did you mean rollkeeper.dev/bake-time?',
      ],
    ],
    [{ unlike: 'x' }, ['[rollkeeper.dev/unlike] x: is under a name that is not known']],
    [{ 'on-failure': 'panic' }, ['[rollkeeper.dev/on-failure] panic: is not one of none, hold, rollback']],
    [{ 'max-rollouts': '3' }, ['[rollkeeper.dev/max-rollouts] 3: belongs on the Namespace']],
    [{ approve: 'anna', failed: 'x', traceparent: 'y' }, []],
  ])('are, for a Deployment with %j, %j', (settings, problems) => {
    expect(ofDeployment(settings)).toEqual(problems);
  });

  it('depend on the strategy of the Deployment', () => {
    expect(ofDeployment({ steps: '20%' })).toEqual([]);
    expect(ofDeployment({ steps: '20%' }, { strategy: 'Recreate' })).toEqual([
      '[rollkeeper.dev/steps] 20%: needs spec.strategy.type RollingUpdate',
    ]);
  });

  it('are marked where they are the problems of its Namespace', () => {
    expect(ofDeployment({ steps: '50%' }, { defaults: { 'on-failure': 'panic', 'bake-tme': '1m' } })).toEqual(
      [
        'elsewhere [rollkeeper.dev/bake-tme] of the Namespace 1m: is under a name that is not known; did you mean rollkeeper.dev/bake-time?',
        'elsewhere [rollkeeper.dev/on-failure] of the Namespace panic: is not one of none, hold, rollback',
      ],
    );
  });

  it.each([
    [{ freeze: 'the sale', 'max-rollouts': '3', 'active-service': 'web', zones: 'one-by-one' }, []],
    [{ 'some-other': 'x', 'failure-causes': ' ' }, []],
    [
      { freze: 'x', window: 'always' },
      [
        /^\[rollkeeper\.dev\/freze\] x: .*did you mean rollkeeper\.dev\/freeze\?$/,
        /^\[rollkeeper\.dev\/window\] always: /,
      ],
    ],
  ])('are, for a Namespace with %j, those of each default by itself', (settings, problems) => {
    const found = namespacePolicyProblems(named(settings)).map(shown);
    expect(found).toEqual(problems.map((problem) => expect.stringMatching(problem) as string));
  });

  it('have values that are cut', () => {
    const [problem] = namespacePolicyProblems(named({ steps: 'x'.repeat(1000) }));
    expect(problem?.value).toHaveLength(80);
  });
});
