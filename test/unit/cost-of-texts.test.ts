import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../src/client/api-client/index.js';
import { classifyFailure } from '../../src/runtime/controller/index.js';
import { growth, processorTime } from '../support/growth/measure.js';

const CHARACTERS = 32 * 1024;

const TEXTS: readonly { readonly name: string; readonly unit: string; read: (text: string) => unknown }[] = [
  ': User "',
  'no PriorityClass with name ',
  'RuntimeClass "',
  'exceeded quota:',
].map((unit) => ({
  name: `a refusal that repeats ${unit}`,
  unit,
  read: (text) => classifyFailure(new ApiStatusError({ code: 403, message: text })),
}));

// Users choose names and messages, and controllers process the keys of all users.
describe('the cost of reading a text of a user grows no faster than', () => {
  it.each(TEXTS)('$name', async ({ read, unit }) => {
    const cost = (times: number) => {
      const text = unit.repeat(Math.ceil((times * CHARACTERS) / unit.length));
      return () => processorTime(async () => read(text));
    };
    const { isSteep, largeMs, smallMs } = await growth(cost(1), cost(8));
    expect(isSteep, `${smallMs} ms, eight times: ${largeMs} ms`).toBe(false);
  });
});
