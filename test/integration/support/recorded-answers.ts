import { fileURLToPath } from 'node:url';
import type { AnswerPart } from '../../conformance/compare-answers.js';
import { RecordedAnswers } from '../../conformance/recorded-answers.js';
import { RecordedExactAnswers } from '../../conformance/recorded-exact-answers.js';
import type { ExactPart } from '../../conformance/recorded-exact-answers.js';
import { runConformance } from '../../conformance/run-conformance.js';

/**
 * How many of all answers of the first recording agree with those of Kubernetes 1.36.2, percent. They only rise. The second
 * recording holds every eleventh of the changes of one field that the first does not try.
 */
export const FLOORS: Readonly<Record<AnswerPart, number>> = {
  code: 99.9,
  fields: 99.8,
  message: 99.3,
  warnings: 99.7,
  object: 98.3,
};

/** How many answers to requests with two mistakes agree in each part, and in all, percent. */
export const EXACT_FLOORS: Readonly<Partial<Record<ExactPart, number>>> = { all: 96.2, code: 100 };

/** A file of test/vectors: requests with two mistakes, odd patches, deletions and watches. */
const EXACT_RECORDING = 'answers-double-1.36.jsonl.gz';

export interface Recording {
  /** A file of test/vectors. */
  readonly recording: string;
  /** Only one of so many reads and dry runs is sent; all by default. */
  readonly oneOf?: number;
  /** How many answers have to agree, percent. */
  readonly floors: Readonly<Record<AnswerPart, number>>;
}

/** In what the answers of the embedded server agree with the recording less often than they have to: `object 98.1 < 98.3`. */
export async function answersBelowFloors({ floors, oneOf = 1, recording }: Recording): Promise<string[]> {
  const answers = new RecordedAnswers({ oneOf });
  await runConformance(fileOf(recording), [answers], () => undefined);
  return belowFloors(answers, floors);
}

/** As {@link answersBelowFloors}, of every part of the answers to one request in `oneOf`. */
export async function exactAnswersBelowFloors(
  oneOf: number,
  floors: Readonly<Partial<Record<ExactPart, number>>> = EXACT_FLOORS,
): Promise<string[]> {
  const answers = new RecordedExactAnswers({ oneOf });
  await runConformance(fileOf(EXACT_RECORDING), [answers], () => undefined);
  return belowFloors(answers, floors);
}

function fileOf(recording: string): string {
  return fileURLToPath(new URL(`../../vectors/${recording}`, import.meta.url));
}

function belowFloors<Part extends string>(
  answers: { share(part: Part): number },
  floors: Readonly<Partial<Record<Part, number>>>,
): string[] {
  const parts = Object.entries(floors) as [Part, number][];
  return parts
    .map(([part, floor]) => ({ part, floor, share: 100 * answers.share(part) }))
    .filter(({ floor, share }) => share < floor)
    .map(({ part, floor, share }) => `${part} ${share} < ${floor}`);
}
