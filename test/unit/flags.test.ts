import { describe, expect, it, vi } from 'vitest';
import { listOf, number, numbers, oneOf, readFlags, text, texts, yes } from '../support/flags.js';

describe('the options of a script', () => {
  const flags = {
    roundSeconds: number('how long a round is', 60),
    redis: oneOf('what is shared', ['single', 'cluster'], 'single'),
    faults: text('which'),
    keep: yes('keep the data'),
  };
  const read = (...args: string[]) => readFlags('npm run x --', flags, ['node', 'script', ...args]);

  it('are what they are without being said', () => {
    expect(read()).toEqual({ roundSeconds: 60, redis: 'single', faults: '', keep: false, rest: [] });
  });

  it('are read, and what follows is left to others', () => {
    expect(read('--round-seconds', '5', '--redis', 'cluster', '--keep', '--', '--leader', 'x')).toEqual({
      roundSeconds: 5,
      redis: 'cluster',
      faults: '',
      keep: true,
      rest: ['--leader', 'x'],
    });
  });

  it('are several values behind commas, or one each time', () => {
    const several = {
      kinds: numbers('how many', [0, 60]),
      api: listOf('which', ['light', 'embedded']),
      env: texts('variables', ['']),
    };
    const readSeveral = (...args: string[]) =>
      readFlags('npm run x --', several, ['node', 'script', ...args]);
    expect(readSeveral()).toMatchObject({ kinds: [0, 60], api: ['light', 'embedded'], env: [''] });
    expect(
      readSeveral('--kinds', '5,6', '--api', 'light', '--env=--cpu-prof', '--env', 'A=1 B=2'),
    ).toMatchObject({ kinds: [5, 6], api: ['light'], env: ['--cpu-prof', 'A=1 B=2'] });
  });

  it.each([
    [['--round-seconds', 'soon'], 'must be a number'],
    [['--redis', 'none'], 'must be single or cluster'],
    [['--rounds', '1'], "unknown option '--rounds'"],
  ])('are refused by name when they are wrong: %j', (args, problem) => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => {
      throw new Error('exit');
    });
    try {
      expect(() => read(...args)).toThrow('exit');
      expect(said.mock.calls.join()).toContain(problem);
    } finally {
      said.mockRestore();
      exit.mockRestore();
    }
  });
});
