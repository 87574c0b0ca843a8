import { expect, it } from 'vitest';
import { answersBelowFloors } from '../integration/support/recorded-answers.js';

it('every recorded request is answered as a genuine server does, at least as often as before', async () => {
  // Percent of the answers. They only rise.
  const floors = { code: 99.9, fields: 99.8, message: 99.3, warnings: 99.7, object: 98.3 };
  expect(await answersBelowFloors({ recording: 'answers-1.36.jsonl.gz', floors })).toEqual([]);
}, 300_000);
