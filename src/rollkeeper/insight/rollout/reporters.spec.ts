import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { RolloutReport } from './describe-rollout.js';
import { GithubReporter, JsonReporter, LineReporter, TerminalReporter } from './reporters.js';
import { ROLLOUT_EXIT_CODES } from '../../terminal/exit-codes.js';

const ROLLING: RolloutReport = {
  time: '2026-01-01T00:00:00Z',
  namespace: 'shop',
  name: 'web',
  generation: 2,
  phase: 'progressing',
  reason: 'ReplicaSetUpdated',
  message: 'Waiting: the image of pod web-1 cannot be pulled',
  cause: { code: 'image-pull', summary: 'the image of pod web-1 cannot be pulled' },
  counts: { replicas: 5, total: 6, updated: 3, ready: 4, available: 4 },
};
const COMPLETE: RolloutReport = { ...ROLLING, phase: 'complete', message: 'rolled out', cause: undefined };
const ROLLED_BACK: RolloutReport = { ...ROLLING, phase: 'rolled-back', message: '100%: no\nimage' };

function printed() {
  const texts = { out: '', error: '' };
  const print = {
    out: (text: string) => void (texts.out += text),
    error: (text: string) => void (texts.error += text),
  };
  return { print, texts };
}

describe('the printed lines of a rollout', () => {
  it('is one line for each change, and a failure on standard error', () => {
    const { print, texts } = printed();
    const reporter = new LineReporter(print);
    reporter.show(ROLLING, true);
    reporter.show(ROLLING, false);
    reporter.show({ ...ROLLING, counts: { ...ROLLING.counts, ready: 5 } }, true);
    reporter.end({ outcome: 'complete', report: COMPLETE });
    expect(texts).toEqual({ out: `${ROLLING.message}\nrolled out\n`, error: '' });
    reporter.end({ outcome: 'failed', report: ROLLING });
    expect(texts.error).toBe(`rollkeeper: ${ROLLING.message}\n`);
  });

  it('is one JSON object for each change, and the last says what it came to', () => {
    const { print, texts } = printed();
    const reporter = new JsonReporter(print);
    reporter.show(ROLLING, true);
    reporter.show(ROLLING, false);
    reporter.end({ outcome: 'rolled-back', report: ROLLED_BACK });
    const lines = texts.out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      ROLLING,
      { ...ROLLED_BACK, outcome: 'rolled-back', exitCode: 4 },
    ]);
    expect(texts.error).toBe('');
  });

  it('is one line that is written over on a terminal, no wider than that, with what each phase began with above it', async () => {
    const { print, texts } = printed();
    const clock = new FakeClock();
    const reporter = new TerminalReporter(print, clock, () => 50);
    const again = '\r\u001b[2K';
    reporter.show(ROLLING);
    await clock.advance(61_000);
    reporter.show({ ...ROLLING, phase: 'baking', cause: undefined, message: 'complete and watched' });
    reporter.end({ outcome: 'complete', report: COMPLETE });
    expect(texts.out.split(again)).toEqual([
      '',
      '0s web progressing (3 of 5 new, 4 available): th…',
      'complete and watched\n',
      '1m1s web baking (3 of 5 new, 4 available)',
      'rolled out\n',
    ]);
  });

  it('has annotations for GitHub Actions besides, escaped, with a notice when a person is waited for', () => {
    const { print, texts } = printed();
    const reporter = new GithubReporter(
      new LineReporter({ out: () => undefined, error: print.error }),
      print,
    );
    const waiting: RolloutReport = { ...ROLLING, phase: 'waiting-for-approval', message: 'Step 4 of 4' };
    reporter.show(ROLLING, true);
    reporter.show(waiting, true);
    reporter.show(waiting, false);
    reporter.end({ outcome: 'rolled-back', report: ROLLED_BACK });
    reporter.end({ outcome: 'complete', report: COMPLETE });
    expect(texts.out.split('\n')).toEqual([
      '::notice title=Rollout of web%3A waiting-for-approval::Step 4 of 4',
      '::error title=Rollout of web%3A rolled-back::100%25: no%0Aimage',
      '::notice title=Rollout of web%3A complete::rolled out',
      '',
    ]);
  });
});

describe('the exit codes', () => {
  it('differ, and leave 2 to what was typed wrong', () => {
    const codes = Object.values(ROLLOUT_EXIT_CODES);
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes).not.toContain(2);
  });

  it('are those of docs/ROLLOUTS.md', () => {
    const docs = readFileSync(join(import.meta.dirname, '../../../../docs/ROLLOUTS.md'), 'utf8');
    const rows = [...docs.matchAll(/^\| (\d) +\| `([a-z-]+)`/gm)];
    const documented = Object.fromEntries(rows.map(([, code, outcome]) => [outcome, Number(code)]));
    expect(documented).toEqual(ROLLOUT_EXIT_CODES);
  });
});
