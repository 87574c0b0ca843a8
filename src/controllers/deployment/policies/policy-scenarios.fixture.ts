import fc from 'fast-check';
import type { aBudget } from '../../../testing/budget-builder.js';
import { BROKEN_IMAGE } from '../../../testing/rollout-world.js';

const IMAGES = ['app:1', 'app:2', 'app:3', BROKEN_IMAGE];

/** The amount that every third pod's node refuses. */
export const REFUSED_CPU = '400m';

type BudgetSpec = Parameters<typeof aBudget>[0];

const drawnScenario = fc.record({
  seed: fc.integer(),
  replicas: fc.integer({ min: 1, max: 12 }),
  maxSurge: fc.constantFrom(0, 1, '25%', '100%'),
  maxUnavailable: fc.constantFrom(0, 1, '25%', '50%'),
  refusals: fc.double({ min: 0, max: 0.2, noNaN: true }),
  onFailure: fc.constantFrom('none', 'hold', 'rollback'),
  failAfter: fc.constantFrom(undefined, '1m', '5m'),
  bakeTime: fc.constantFrom(undefined, '3m'),
  steps: fc.constantFrom<string | undefined>(
    undefined,
    '1; approve; 50%; wait 2m',
    'approve; 30%; approve',
    '50%; wait 1m; 80%',
    'check slo; 1; check slo; 50%; approve; 100%; check slo',
    'experiment 2m: baseline 1, canary 2, check slo; 50%; approve',
    'experiment 2m: baseline 1, canary 1, services; 50%; approve',
  ),
  checks: fc.constantFrom(undefined, 'slo'),
  restartOn: fc.constantFrom(undefined, 'config'),
  budget: fc.constantFrom<BudgetSpec | undefined>(
    undefined,
    { minAvailable: 1 },
    { minAvailable: 5 },
    { minAvailable: '75%' },
    { maxUnavailable: 1 },
    { maxUnavailable: '30%' },
  ),
  blueGreen: fc.constantFrom(undefined, undefined, 'true', 'false'),
  podReplacement: fc.constantFrom(undefined, 'terminated'),
  zones: fc.constantFrom(undefined, 'one-by-one'),
  resize: fc.constantFrom(undefined, 'in-place'),
  autoscaling: fc.constantFrom(undefined, undefined, 'hold', 'floor'),
  config: fc.constantFrom(undefined, undefined, 'pinned'),
  relabel: fc.constantFrom(undefined, 'in-place'),
  surge: fc.constantFrom(undefined, 'if-it-fits'),
  /** Labels of the version, a limit of failed pods, and a deadline after the rollout. */
  isMarked: fc.boolean(),
  /** The steps of a rollout by weights. */
  traffic: fc.constantFrom<string | undefined>(
    undefined,
    undefined,
    'weight 20%; approve; weight 50%; wait 2m',
    'header x-canary=a; approve; mirror 10%; 50%; weight 5%; wait 1m; header off; weight 60%',
    '100%; check slo; approve',
  ),
});
/** Weights need two whole versions, and the two other policies that do go without them. */
export const scenario = drawnScenario.map((drawn) =>
  drawn.traffic === undefined
    ? drawn
    : { ...drawn, maxSurge: '100%', blueGreen: undefined, surge: undefined, steps: drawn.traffic },
);
export const change = fc.oneof(
  fc.record({ image: fc.constantFrom(...IMAGES) }),
  fc.record({ replicas: fc.integer({ min: 0, max: 12 }) }),
  fc.record({ cpu: fc.constantFrom('100m', '200m', REFUSED_CPU) }),
  fc.record({ ask: fc.constantFrom('approve', 'abort', 'retry') }),
  fc.record({ freeze: fc.boolean() }),
  fc.record({ paused: fc.boolean() }),
  fc.record({ minutes: fc.integer({ min: 1, max: 15 }) }),
  /** The nodes have room for what runs and so many more pods, or for any number. */
  fc.record({ roomFor: fc.constantFrom<number | undefined>(0, 1, undefined) }),
  fc.record({ lost: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ prometheus: fc.constantFrom<string | undefined>('0', '1', 'NaN', undefined) }),
  fc.record({ config: fc.constantFrom<string | undefined>('1', '2', undefined) }),
  fc.record({ team: fc.constantFrom<string | undefined>('shop', 'sales', undefined) }),
  /** A rollout by weights asks for them, or no more. */
  fc.record({ led: fc.boolean() }),
);
export type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;
export type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
