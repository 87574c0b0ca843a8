import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { AnswerPart } from '../../src/testing/conformance/compare-answers.js';
import { RecordedAnswers } from '../../src/testing/conformance/recorded-answers.js';
import { runConformance } from '../../src/testing/conformance/run-conformance.js';

const RECORDED = fileURLToPath(new URL('../vectors/answers-1.36.jsonl.gz', import.meta.url));

/** How many of the answers agree with those of Kubernetes 1.36.2, percent. These floors only rise. */
const FLOORS: Readonly<Record<AnswerPart, number>> = {
  code: 87.5,
  fields: 86.2,
  message: 69.7,
  warnings: 37.7,
  object: 69.4,
};

it('answers as a genuine server does, at least as often as before', async () => {
  const answers = new RecordedAnswers();
  await runConformance(RECORDED, [answers], () => undefined);
  const shares = Object.fromEntries(
    Object.keys(FLOORS).map((part) => [part, 100 * answers.share(part as AnswerPart)]),
  );
  const below = Object.entries(FLOORS).filter(([part, floor]) => shares[part]! < floor);
  expect(below, JSON.stringify(shares)).toEqual([]);
}, 300_000);
