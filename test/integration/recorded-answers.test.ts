import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { RecordedDefaults } from '../conformance/recorded-defaults.js';
import { runConformance } from '../conformance/run-conformance.js';
import type { Recording } from './support/recorded-answers.js';
import { FLOORS, answersBelowFloors, exactAnswersBelowFloors } from './support/recorded-answers.js';

const vector = (name: string): string => fileURLToPath(new URL(`../vectors/${name}`, import.meta.url));

const RECORDINGS: readonly Recording[] = [
  // One read or dry run of five; the nightly suite sends all of them. Of these, a few more warnings differ.
  { recording: 'answers-1.36.jsonl.gz', oneOf: 5, floors: { ...FLOORS, warnings: 99.4 } },
  {
    recording: 'answers-more-1.36.jsonl.gz',
    floors: { code: 99.4, fields: 99.3, message: 97.4, warnings: 91.5, object: 85.2 },
  },
];

it.each(RECORDINGS)(
  'answers as a genuine server does, at least as often as before: $recording',
  async (recording) => expect(await answersBelowFloors(recording)).toEqual([]),
  300_000,
);

it('answers requests with two mistakes as a genuine server does, at least as often as before', async () => {
  // One of five; the nightly suite sends all of them.
  expect(await exactAnswersBelowFloors(5, { all: 98, code: 100 })).toEqual([]);
}, 60_000);

/** Differences that docs/API.md#where-answers-differ describes. */
const DIFFERING_DEFAULTS = ['SAR', 'SSRR', 'Service v6'];

it('gives new objects the defaults and the owners that a genuine server gives them', async () => {
  const failed: string[] = [];
  await runConformance(vector('defaulting-1.36.jsonl.gz'), [new RecordedDefaults()], ({ id, rules }) => {
    if (rules.length === 0) failed.push(id);
  });
  expect(failed.filter((id) => !DIFFERING_DEFAULTS.includes(id))).toEqual([]);
}, 60_000);
