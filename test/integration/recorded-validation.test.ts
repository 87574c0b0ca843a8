import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runConformance } from '../../src/testing/conformance/run-conformance.js';
import { validationAnswers } from '../../src/testing/conformance/validation-answers.js';

const RECORDED = fileURLToPath(new URL('../vectors/validation.jsonl.gz', import.meta.url));

/**
 * Where we judge as newer versions of Kubernetes do, and not as the recorded one (1.20), with the number of answers.
 * The list stands in docs/API.md, too.
 */
const DIFFERENCES: readonly { readonly why: string; readonly ids: RegExp; readonly count: number }[] = [
  {
    why: 'an update of a Service may leave out its version and the address that was chosen for it',
    ids: /^update Service\./,
    count: 50,
  },
  {
    why: 'values in label selectors and in required node affinity have to be values that a label can have',
    ids: /\.(matchExpressions\.\d+\.values\.\d+|topologySpreadConstraints\.0\.labelSelector\.matchLabels\.a)#/,
    count: 12,
  },
  {
    why: 'names of environment variables may hold all printable characters but =',
    ids: /\.env\.\d+\.name#/,
    count: 4,
  },
  {
    why: 'images of init containers may change',
    ids: /^update Pod\.spec\.initContainers\.0\.image#/,
    count: 5,
  },
  {
    why: 'no annotation about seccomp is written into pods, which would be judged with their containers',
    ids: /^create Pod\.spec\.containers\.0\.name#/,
    count: 3,
  },
  {
    why: 'what 1.20 has no feature for is checked: the time to live of a Job',
    ids: /\.spec\.ttlSecondsAfterFinished#/,
    count: 2,
  },
  {
    why: 'the external traffic policy of a Service of an unknown type is checked',
    ids: /^create Service\.spec\.type#/,
    count: 1,
  },
  {
    why: 'the service name of a StatefulSet has to be a label of DNS',
    ids: /^create StatefulSet\.spec\.serviceName#/,
    count: 3,
  },
];

it('judges slightly wrong objects of all kinds as a genuine server did, but for differences with a reason', async () => {
  const differing: string[] = [];
  const totals = await runConformance(RECORDED, [validationAnswers], ({ id }) => void differing.push(id));
  const of = (ids: RegExp): string[] => differing.filter((id) => ids.test(id));
  const explained = new Set(DIFFERENCES.flatMap(({ ids }) => of(ids)));
  expect(differing.filter((id) => !explained.has(id))).toEqual([]);
  for (const { why, ids, count } of DIFFERENCES) expect(of(ids), why).toHaveLength(count);
  expect(totals).toEqual({ passed: 3402, failed: 80, deliberate: 0 });
}, 300_000);
