import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { KubectlCases } from '../../src/testing/conformance/kubectl/kubectl-cases.js';
import { runConformance } from '../../src/testing/conformance/run-conformance.js';

const RECORDED = fileURLToPath(new URL('../vectors/kubectl-1.36.jsonl.gz', import.meta.url));
/** Of 270 commands. It only rises. */
const FLOOR = 262;

it(
  'all recorded commands of kubectl print what they printed against a genuine server, but for those that are documented',
  { timeout: 1_200_000 },
  async () => {
    const failed: string[] = [];
    const { passed } = await runConformance(RECORDED, [new KubectlCases()], ({ differences, id, rules }) => {
      if (rules.length === 0) failed.push(`${id}: ${differences.join('; ')}`);
    });
    expect(passed, failed.join('\n')).toBeGreaterThanOrEqual(FLOOR);
  },
);
