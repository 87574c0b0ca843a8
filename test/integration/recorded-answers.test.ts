import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { AnswerPart } from '../../src/testing/conformance/compare-answers.js';
import { RecordedAnswers } from '../../src/testing/conformance/recorded-answers.js';
import { RecordedDefaults } from '../../src/testing/conformance/recorded-defaults.js';
import { runConformance } from '../../src/testing/conformance/run-conformance.js';

const vector = (name: string): string => fileURLToPath(new URL(`../vectors/${name}`, import.meta.url));

/**
 * How many of the answers agree with those of Kubernetes 1.36.2, percent. These floors only rise. The second
 * recording holds every eleventh of the changes of one field that the first does not try.
 */
const FLOORS: Readonly<Record<string, Readonly<Record<AnswerPart, number>>>> = {
  'answers-1.36.jsonl.gz': { code: 99.4, fields: 99, message: 94.6, warnings: 99.6, object: 97.3 },
  'answers-more-1.36.jsonl.gz': { code: 90, fields: 90, message: 90, warnings: 90, object: 90 },
};

it.each(Object.entries(FLOORS))(
  'answers as a genuine server does, at least as often as before: %s',
  async (recording, floors) => {
    const answers = new RecordedAnswers();
    await runConformance(vector(recording), [answers], () => undefined);
    const shares = Object.fromEntries(
      Object.keys(floors).map((part) => [part, 100 * answers.share(part as AnswerPart)]),
    );
    const below = Object.entries(floors).filter(([part, floor]) => shares[part]! < floor);
    expect(below, JSON.stringify(shares)).toEqual([]);
  },
  300_000,
);

/** What is told of in docs/API.md#where-answers-differ. */
const DIFFERING_DEFAULTS = ['SAR', 'SSRR', 'Service v6'];

it('gives new objects the defaults and the owners that a genuine server gives them', async () => {
  const failed: string[] = [];
  await runConformance(vector('defaulting-1.36.jsonl.gz'), [new RecordedDefaults()], ({ id, rules }) => {
    if (rules.length === 0) failed.push(id);
  });
  expect(failed.filter((id) => !DIFFERING_DEFAULTS.includes(id))).toEqual([]);
}, 60_000);
