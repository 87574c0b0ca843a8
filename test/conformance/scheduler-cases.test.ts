import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { parseJson } from '@rollkeeper/machinery/kubernetes';
import { describe, expect, it } from 'vitest';
import type { RecordedCase } from './conformance-format.js';
import { schedulerCases } from './scheduler-cases.js';
import type { SchedulerCase } from './scheduler-cases.js';

const FILE = 'test/vectors/scheduler-1.36.jsonl.gz';

const recordings = gunzipSync(await readFile(FILE))
  .toString('utf8')
  .trim()
  .split('\n')
  .map((line) => parseJson(line) as SchedulerCase);

const run = (recorded: SchedulerCase) => schedulerCases.run(recorded as unknown as RecordedCase);

/** The category of a difference: the word before its colon, without the plug-in. */
const categoryOf = (line: string): string => /^[^.:]*/.exec(line)?.[0] ?? '';

describe('the scheduler held against recordings of kube-scheduler 1.36', () => {
  it('decides every recorded pod as the genuine scheduler did, in every respect', async () => {
    const failures: string[] = [];
    const byCategory: Record<string, number> = {};
    for (const recorded of recordings) {
      const found = await run(recorded);
      for (const category of new Set(found.map(categoryOf)))
        byCategory[category] = (byCategory[category] ?? 0) + 1;
      if (found.length > 0) failures.push(`${recorded.id} (${recorded.theme})\n  ${found.join('\n  ')}`);
    }
    expect(failures.slice(0, 8).join('\n')).toBe('');
    // Feasible nodes, chosen node, scores, message, nomination, victims and bound volumes: not one differs.
    expect(byCategory).toEqual({});
    expect(recordings).toHaveLength(2350);
  });

  it('finds a difference where there is one', async () => {
    const chosen = recordings.find(({ scores }) => scores && Object.keys(scores).length > 1)!;
    const [node = ''] = chosen.feasible ?? [];
    const scores = structuredClone(chosen.scores) as Record<string, Record<string, number>>;
    scores[node]!['TaintToleration'] = 299;
    const found = await run({ ...chosen, scores, best: ['another'] });
    expect(found.map(categoryOf)).toEqual(['scores', 'best']);

    const preempting = recordings.find(({ kind }) => kind === 'preempting')!;
    const changed = { ...preempting, message: 'no', nominated: 'elsewhere', victims: [] };
    expect((await run(changed)).map(categoryOf)).toEqual(['message', 'nominated', 'victims']);

    const bound = recordings.find(({ bindings }) => bindings)!;
    expect((await run({ ...bound, bindings: {} })).map(categoryOf)).toEqual(['bindings']);
  });
});
