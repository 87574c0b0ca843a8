import { describe, expect, it } from 'vitest';
import { isNightly } from '../../../src/testing/property-runs.js';
import { INTENTS_BUGS } from '../planted/intents-bugs.js';
import { importWith } from '../planted/planted-import.js';
import { ModelViolation, describeExplored, explore } from './explorer.js';
import type * as IntentsModel from './intents.model.js';
import { intentsModel } from './intents.model.js';

const FAULTS = isNightly ? 4 : 3;
/** One pod is wanted: of none that run, and of two. */
const SITUATIONS: readonly (readonly string[])[] = [[], ['web-x', 'web-y']];

describe('two replicas that sync one ReplicaSet', () => {
  it.each([
    ['growing', SITUATIONS[0]],
    ['shrinking', SITUATIONS[1]],
  ])(
    'keep their promises in every state, %s: no pod twice, none too few, and each intent has an end',
    async (name, before) => {
      const explored = await explore(intentsModel(FAULTS, before));
      console.log(describeExplored(`intents, ${name},`, FAULTS, explored));
      expect(explored.states).toBeGreaterThan(1000);
    },
  );
});

describe('the model of the intents can fail', () => {
  it.each(INTENTS_BUGS.map((bug) => [bug.breaks, bug] as const))('%s', async (_, bug) => {
    const planted = (await importWith('../model/intents.model.js', bug)) as typeof IntentsModel;
    const run = async (): Promise<void> => {
      for (const before of SITUATIONS) await explore(planted.intentsModel(bug.withinFaults, before));
    };
    await expect(run()).rejects.toThrow(ModelViolation);
  });
});
