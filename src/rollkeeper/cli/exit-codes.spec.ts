import { describe, expect, it } from 'vitest';
import { createProgram } from './program.js';
import {
  DOCTOR_EXIT_CODES,
  EXIT_CODES,
  PLACEMENT_EXIT_CODES,
  ROLLOUT_EXIT_CODES,
  SCALE_EXIT_CODES,
  STATE_EXIT_CODES,
  exitCodesHelp,
  exitCodesOf,
} from '../terminal/exit-codes.js';

const codesOf = (command: string): string[] => exitCodesOf(command).map(({ code }) => code);

describe('the list of exit codes', () => {
  it.each([
    ['rollout', Object.values(ROLLOUT_EXIT_CODES)],
    ['scale', Object.values(SCALE_EXIT_CODES)],
    ['doctor', Object.values(DOCTOR_EXIT_CODES)],
    ['explain', Object.values({ ...STATE_EXIT_CODES, ...PLACEMENT_EXIT_CODES })],
    ['why', Object.values(STATE_EXIT_CODES)],
  ])('has all that %s ends with, and no others', (command, codes) => {
    const wanted = new Set(['0', '1', '2', ...codes.map(String)]);
    expect(new Set(codesOf(command))).toEqual(wanted);
  });

  it('is about commands that there are', () => {
    const names = createProgram('main.js').commands.map((command) => command.name());
    expect(names).toEqual(expect.arrayContaining(Object.keys(EXIT_CODES)));
  });

  it('says 0, 1 and 2 for every command, and is in the order of the numbers', () => {
    expect(codesOf('plan')).toEqual(['0', '1', '2']);
    expect(codesOf('test-cluster')).toEqual(['0', '1', '2', '126', '127', 'N', '128+N']);
    expect(exitCodesHelp('diff')).toContain('\nExit codes:\n  0  nothing differs\n');
  });

  it('ends the help of each command', () => {
    const program = createProgram('main.js');
    let printed = '';
    for (const command of program.commands)
      command.configureOutput({ writeOut: (text) => void (printed += text) });
    for (const command of program.commands) {
      printed = '';
      command.outputHelp();
      expect(printed, command.name()).toContain(exitCodesHelp(command.name()));
    }
  });

  it('is there for a plugin, which is called by another name', () => {
    expect(createProgram('main.js', 'kubectl rollkeeper').helpInformation()).toMatch(
      /^Usage: kubectl rollkeeper /,
    );
  });
});
