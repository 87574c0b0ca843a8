import { expect, it } from 'vitest';
import {
  FLOORS,
  answersBelowFloors,
  exactAnswersBelowFloors,
} from '../integration/support/recorded-answers.js';

it('every recorded request is answered as a genuine server does, at least as often as before', async () => {
  expect(await answersBelowFloors({ recording: 'answers-1.36.jsonl.gz', floors: FLOORS })).toEqual([]);
}, 300_000);

it('every recorded request with two mistakes is answered as a genuine server does, at least as often as before', async () => {
  expect(await exactAnswersBelowFloors(1)).toEqual([]);
}, 300_000);
