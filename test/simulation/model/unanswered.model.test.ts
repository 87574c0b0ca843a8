import { describe, expect, it } from 'vitest';
import { importWith } from '../planted/planted-import.js';
import { UNANSWERED_BUGS } from '../planted/unanswered-bugs.js';
import { ModelViolation, explore } from './explorer.js';
import type * as UnansweredModel from './unanswered.model.js';
import { SITUATIONS, unansweredModel } from './unanswered.model.js';

describe('a write without an answer', () => {
  it('is settled in every state once it can have no effect any more, and within a second', async () => {
    let states = 0;
    for (const situation of SITUATIONS) states += (await explore(unansweredModel(situation))).states;
    console.log(`the models of a write without an answer have ${states} states`);
    expect(states).toBeGreaterThan(100);
  });
});

describe('the model of a write without an answer can fail', () => {
  it.each(UNANSWERED_BUGS.map((bug) => [bug.breaks, bug] as const))('%s', async (_, bug) => {
    const planted = (await importWith('../model/unanswered.model.js', bug)) as typeof UnansweredModel;
    const exploreAll = async (): Promise<void> => {
      for (const situation of SITUATIONS) await explore(planted.unansweredModel(situation));
    };
    await expect(exploreAll()).rejects.toThrow(ModelViolation);
  });
});
