import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../machinery/clock/index.js';
import { StartupError } from '../../machinery/errors/index.js';
import { PipeView, TerminalView, keepShowing } from './redraw.js';

const ESCAPE = '\u001b';

describe('a view on a terminal', () => {
  it('writes over what it wrote before', () => {
    const written: string[] = [];
    const view = new TerminalView({ columns: 80, rows: 10, write: (text) => written.push(text) });
    view.show('one\ntwo');
    view.show('three');
    expect(written).toEqual([`\r${ESCAPE}[Jone\ntwo\n`, `${ESCAPE}[2A\r${ESCAPE}[Jthree\n`]);
  });

  it('never scrolls: it cuts off what is too wide and too long', () => {
    const written: string[] = [];
    const view = new TerminalView({ columns: 5, rows: 4, write: (text) => written.push(text) });
    view.show(['123456', 'b', 'c', 'd', 'e'].join('\n'));
    expect(written[0]).toBe(`\r${ESCAPE}[J1234…\nb\n… 3 more\n`);
  });
});

describe('a view in a pipe', () => {
  it('says nothing twice in a row', () => {
    const written: string[] = [];
    const view = new PipeView((text) => written.push(text));
    for (const text of ['a', 'a', 'b', '', 'a']) view.show(text);
    expect(written).toEqual(['a\n', 'b\n', 'a\n']);
  });
});

describe('texts that are shown again and again', () => {
  it('is read at once, then after each pause, until it is stopped', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const shown: string[] = [];
    let reads = 0;
    const view = { show: (text: string) => void shown.push(text) };
    const running = keepShowing(view, async () => `${++reads}`, {
      clock,
      everyMs: 1000,
      signal: stop.signal,
    });
    await clock.advance(2500);
    expect(shown).toEqual(['1', '2', '3']);
    stop.abort();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes on after a failure, which is shown, unless nothing could be read at all', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const shown: string[] = [];
    const view = { show: (text: string) => void shown.push(text) };
    const answers = ['1', new StartupError('no replica answers'), '3'];
    const read = async (): Promise<string> => {
      const answer = answers.shift() ?? '';
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const running = keepShowing(view, read, { clock, everyMs: 1000, signal: stop.signal });
    await clock.advance(2000);
    expect(shown).toEqual(['1', 'no replica answers; Rollkeeper tries again', '3']);
    stop.abort();
    await running;
    answers.unshift(new StartupError('no replica answers'));
    await expect(
      keepShowing(view, read, { clock, everyMs: 1000, signal: new AbortController().signal }),
    ).rejects.toThrow('no replica answers');
  });
});
