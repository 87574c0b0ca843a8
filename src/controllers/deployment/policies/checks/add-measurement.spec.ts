import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../testing/property-runs.js';
import type { Measured } from './common/check-verdict.js';
import { addMeasurement, newRun } from './add-measurement.js';
import type { CheckDefinition, WebhookCheck } from './check-definition.js';
import { parseCheck } from './check-definition.js';
import type { CheckRun } from './check-results.js';
import { MOST_KEPT, hasVerdict, readCheckResults, renderResults } from './check-results.js';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

function prometheus(rules: Record<string, unknown> = {}): CheckDefinition {
  const asked = { address: 'http://p', query: 'up', condition: '< 1' };
  return defined({ prometheus: asked, interval: '1m', ...rules });
}

function defined(value: unknown): CheckDefinition {
  const parsed = parseCheck(JSON.stringify(value));
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.check;
}

const letters: Readonly<Record<string, Measured>> = {
  p: { verdict: 'passed', value: 0 },
  f: { verdict: 'failed', value: 2, message: '2 is not < 1' },
  u: { verdict: 'unknown', message: 'away' },
};

/** One measurement each minute; ends with the run. */
function measured(verdicts: string, definition: CheckDefinition, step: number | undefined = 1): CheckRun {
  let run = newRun({ check: 'slo', step }, '2026-01-01T00:00:00Z');
  [...verdicts].forEach((letter, index) => {
    const each = letters[letter];
    if (each && run.state === 'measuring') run = addMeasurement(run, definition, each, NOW + index * MINUTE);
  });
  return run;
}

describe('the measurements of a check', () => {
  it.each([
    ['p', {}, 'passed'],
    ['f', {}, 'failed'],
    ['pp', { count: 3 }, 'measuring'],
    ['ppp', { count: 3 }, 'passed'],
    ['pfp', { count: 3, 'failure-limit': 1 }, 'passed'],
    ['pff', { count: 3, 'failure-limit': 1 }, 'failed'],
    ['pupup', { count: 3 }, 'passed'],
    ['uuuuuuuuuu', {}, 'measuring'],
    ['u', { unknown: 'fail' }, 'failed'],
    ['puu', { count: 5, unknown: 'fail', 'failure-limit': 1 }, 'failed'],
    ['uuu', { 'give-up-after': '2m' }, 'failed'],
    ['uupuup', { 'give-up-after': '2m', count: 3 }, 'measuring'],
  ])('%s under %j are %s', (verdicts, rules, state) => {
    expect(measured(verdicts, prometheus(rules)).state).toBe(state);
  });

  it.each([
    ['f', {}, 1, 'passed', 'f'],
    ['u', {}, 1, 'passed', ''],
    ['ffu', { count: 3 }, 1, 'passed', 'ff'],
    ['ff', { count: 3 }, 1, 'measuring', 'ff'],
  ] as const)(
    '%s that are only observed under %j hold nothing at step %s',
    (verdicts, rules, step, state, recent) => {
      const run = measured(verdicts, prometheus({ ...rules, mode: 'observe', unknown: 'fail' }), step);
      expect(run).toMatchObject({ state, recent, mode: 'observe' });
      expect(run.why).toBeDefined();
    },
  );

  it('have always a verdict after the first if they are only observed all the way through', () => {
    const definition = prometheus({ mode: 'observe' });
    const first = newRun({ check: 'slo' }, '2026-01-01T00:00:00Z');
    expect(hasVerdict(first)).toBe(false);
    const away = addMeasurement(first, definition, { verdict: 'unknown', message: 'away' }, NOW);
    expect(away).toMatchObject({ state: 'measuring', unknown: 1, why: 'away' });
    expect(hasVerdict(away)).toBe(true);
  });

  it('never pass a check that is measured all the way through, and fail it by the last of them', () => {
    const rules = prometheus({ count: 3, 'failure-limit': 1 });
    const through = (verdicts: string): string => {
      let run = newRun({ check: 'slo' }, '2026-01-01T00:00:00Z');
      for (const letter of verdicts) run = addMeasurement(run, rules, letters[letter] ?? letters['u']!, NOW);
      return run.state;
    };
    expect(through('pppppppp')).toBe('measuring');
    expect(through('fppfppfpp')).toBe('measuring');
    expect(through('ppppppfpf')).toBe('failed');
  });

  it('say when the next one is due, and why there is no verdict', () => {
    const run = measured('pu', prometheus({ count: 5 }));
    expect(run).toMatchObject({ next: '2026-01-01T00:02:00Z', why: 'away', unknown: 1, taken: 2 });
    expect(measured('pup', prometheus({ count: 5 }))).not.toHaveProperty('why');
  });

  it('are retried, of a webhook, with a longer wait each time, then fail', () => {
    const webhook = defined({ webhook: { url: 'http://ci', retries: 3 } }) as WebhookCheck;
    let run = newRun({ check: 'gate', step: 1 }, '2026-01-01T00:00:00Z');
    const waits: string[] = [];
    while (run.state === 'measuring') {
      run = addMeasurement(run, webhook, letters['u']!, NOW);
      waits.push(run.next);
    }
    expect(waits.slice(0, 3)).toEqual([
      '2026-01-01T00:00:02Z',
      '2026-01-01T00:00:04Z',
      '2026-01-01T00:00:08Z',
    ]);
    expect(run).toMatchObject({ state: 'failed', taken: 4, why: 'no answer after 4 tries: away' });
  });

  const runs = propertyRuns({ gate: 200 });
  it(`pass only by verdicts that are good, whatever else comes (SEED=${runs.seed})`, () => {
    const rules = fc.record({
      count: fc.integer({ min: 2, max: 8 }),
      'failure-limit': fc.integer({ min: 0, max: 1 }),
      unknown: fc.constantFrom('hold', 'fail'),
    });
    const verdicts = fc.string({ unit: fc.constantFrom('p', 'f', 'u'), maxLength: 40 });
    fc.assert(
      fc.property(rules, verdicts, (drawn, word) => {
        const run = measured(word, prometheus(drawn));
        const good = [...run.recent].filter((letter) => letter === 'p').length;
        if (run.state === 'passed') expect(good).toBeGreaterThanOrEqual(drawn.count - drawn['failure-limit']);
        expect(run.measurements.length).toBeLessThanOrEqual(MOST_KEPT);
        expect(run.recent.length).toBeLessThanOrEqual(drawn.count);
      }),
      runs,
    );
  });
});

describe('results on a ReplicaSet', () => {
  const metadata = (text: string) => ({
    metadata: {
      name: 'web-1',
      annotations: { 'rollkeeper.dev/check-results': text, 'deployment.kubernetes.io/revision': '3' },
    },
  });

  it('are read as they were written, within a bound', () => {
    const run = measured('pup', prometheus({ count: 5 }));
    const text = renderResults({ revision: '3', runs: [run] });
    expect(readCheckResults(metadata(text))).toEqual([run]);
    const long = {
      ...run,
      measurements: Array(10).fill({ at: run.began, verdict: 'failed', message: 'x'.repeat(200) }),
    };
    const many = Array.from({ length: 60 }, (_, step) => ({ ...long, step, state: 'passed' as const }));
    const current = { ...long, step: 99 };
    const bounded = renderResults({ revision: '3', runs: [...many, current] });
    expect(bounded.length).toBeLessThan(33 * 1024);
    const read = readCheckResults(metadata(bounded));
    expect(read).toHaveLength(61);
    expect(read.at(-1)?.measurements, 'of the one that goes on').toHaveLength(10);
  });

  it('are none if they are of another revision, or of another hand', () => {
    expect(readCheckResults(metadata(renderResults({ revision: '2', runs: [] })))).toEqual([]);
    for (const text of [
      '',
      '[]',
      '{"revision":"3"}',
      '{"revision":"3","runs":[{}]}',
      '{"revision":"3","runs":[null]}',
    ])
      expect(readCheckResults(metadata(text))).toEqual([]);
  });
});
