import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { DELIBERATE_DIFFERENCES, KubectlCases } from '../conformance/kubectl/kubectl-cases.js';
import { runConformance } from '../conformance/run-conformance.js';
import type { FoundDifference } from '../conformance/run-conformance.js';

const RECORDED = fileURLToPath(new URL('../vectors/kubectl-1.36.jsonl.gz', import.meta.url));
/** The nightly suite runs all of them. */
const SAMPLE = 24;

it('kubectl prints what it printed against a genuine server', async () => {
  const found: FoundDifference[] = [];
  const { passed } = await runConformance(RECORDED, [new KubectlCases({ commands: SAMPLE })], (difference) =>
    found.push(difference),
  );
  expect(found).toEqual([]);
  expect(passed).toBe(SAMPLE);
});

it('commands that print something else are documented, with the reason', () => {
  const document = readFileSync(new URL('../../docs/API.md', import.meta.url), 'utf8');
  const documented = [...document.matchAll(/^- `(kubectl .*)`: (.*)$/gm)].map(([, command, reason]) => [
    command,
    reason,
  ]);
  expect(documented).toEqual(Object.entries(DELIBERATE_DIFFERENCES));
});
