import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { KubectlCases } from '../conformance/kubectl/kubectl-cases.js';
import { runConformance } from '../conformance/run-conformance.js';

it.each([
  // The floor of 270 commands only rises.
  { recording: 'kubectl-1.36.jsonl.gz', floor: 262 },
  // Other kinds, definitions with more features, and what controllers make of them. It only rises.
  { recording: 'kubectl-kinds-1.36.jsonl.gz', floor: 127 },
])(
  'the commands of kubectl in $recording print what they printed against a genuine server, but for those that are documented',
  { timeout: 1_200_000 },
  async ({ floor, recording }) => {
    const failed: string[] = [];
    const file = fileURLToPath(new URL(`../vectors/${recording}`, import.meta.url));
    const { passed } = await runConformance(file, [new KubectlCases()], ({ differences, id, rules }) => {
      if (rules.length === 0) failed.push(`${id}: ${differences.join('; ')}`);
    });
    expect(passed, failed.join('\n')).toBeGreaterThanOrEqual(floor);
  },
);
