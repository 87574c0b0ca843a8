import { describe, expect, it } from 'vitest';
import { compileWorkQueueOptions } from '@rollkeeper/runtime/work-queue';
import { LuaScript } from '../connection/index.js';
import { ConsumerSteps } from './consumer-steps.js';
import type { EndOfRun } from './joined-taking.js';

const call = new LuaScript({ source: 'return 1', name: 'some', numberOfKeys: 0 }).call([]);
const stepsOfOne = (): ConsumerSteps<object> =>
  new ConsumerSteps({
    options: compileWorkQueueOptions(),
    beginning: () => ({ call, answerKey: 'answer', read: () => undefined }),
  });

function anEnd(done: string[], alone?: Error): EndOfRun {
  return {
    call,
    refused: async () => undefined,
    alone: async () => {
      done.push('alone');
      if (alone) throw alone;
    },
  };
}

describe('the end of a run', () => {
  it('is done without its job if the job could not be completed, and is forgotten', async () => {
    for (const failure of [undefined, new Error('OOM command not allowed')]) {
      const done: string[] = [];
      const steps = stepsOfOne();
      steps.endWith('7', anEnd(done, failure));
      await steps.leave('7');
      await steps.leave('7');
      expect(done).toEqual(['alone']);
      expect(steps.endOf('7')).toBeUndefined();
    }
  });

  it('is not done again if it was done with its job', async () => {
    const done: string[] = [];
    const steps = stepsOfOne();
    steps.endWith('7', anEnd(done));
    steps.ended('7');
    await steps.leave('7');
    expect(done).toEqual([]);
  });
});
