import { expect, it } from 'vitest';
import { explainDeployment } from '../app/explain/explain-deployment.js';
import type { ExplainInput } from '../app/explain/explain-input.js';
import type { CauseCode, ExplanationState } from '../app/explain/explanation.js';
import { renderExplanation } from '../app/explain/render-explanation.js';

export interface StuckCase {
  readonly name: string;
  readonly input: ExplainInput;
  readonly state: ExplanationState;
  readonly cause: CauseCode;
  /** A part of the sentence. */
  readonly says: string;
  /** Further causes among what it waits for. */
  readonly also?: readonly CauseCode[];
}

/** One test a case: the explanation names state and cause, says so in its sentence, and what would help. */
export function itNamesTheCauseOf(cases: readonly StuckCase[]): void {
  it.each(cases)('names the cause: $name', ({ also = [], cause, input, says, state }) => {
    const explanation = explainDeployment(input);
    expect(explanation).toMatchObject({ state, cause });
    expect(explanation.sentence).toContain(says);
    expect(explanation.waitsFor.map((finding) => finding.cause)).toEqual(expect.arrayContaining([...also]));
    const settled = state === 'complete' || state === 'scaled-to-zero';
    if (!settled) expect(explanation.unblockedBy.length).toBeGreaterThan(0);
    expect(renderExplanation(explanation)).toContain(explanation.sentence);
  });
}
