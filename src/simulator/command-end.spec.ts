import { describe, expect, it } from 'vitest';
import { failureOfCommand } from './command-end.js';

describe('failureOfCommand', () => {
  it.each<[string[], number, number]>([
    [['false'], 1, 0],
    [['/bin/false'], 1, 0],
    [['sh', '-c', 'exit 3'], 3, 0],
    [['/bin/sh', '-ec', 'echo "no (good)"; exit 1'], 1, 0],
    [['bash', '-c', 'echo started && sleep 5 && exit 2'], 2, 5_000],
    [['sh', '-c', "echo '$(a) && b' >&2\nsleep 0.5s\nexit 300"], 44, 500],
    [['sh', '-c', 'curl example.com; false'], 1, 0],
    [['sh', '-c', '# exit 0\nexit 7'], 7, 0],
    [['sh', '-c', 'echo $HOME; exit 1'], 1, 0],
  ])('%j fails with %i after %i ms', (argv, exitCode, afterMs) => {
    expect(failureOfCommand(argv)).toEqual({ exitCode, afterMs });
  });

  it.each<[string[]]>([
    [[]],
    [['true']],
    [['nginx', '-g', 'daemon off;']],
    [['sh', '-c', 'exit 0']],
    [['sh', '-c', 'exit']],
    [['sh', '-c', 'exit $CODE']],
    [['sh', '-c', 'sleep 3600']],
    [['sh', '-c', 'test -f /ready || exit 1']],
    [['sh', '-c', 'test -f /ready && exit 1']],
    [['sh', '-c', 'if true; then exit 1; fi']],
    [['sh', '-c', 'exec server; exit 1']],
    [['sh', '-c', 'echo "$(exit 1)"']],
    [['sh', '-c', '$RUN; exit 1']],
    [['sh', 'script.sh', 'exit 1']],
    [['python', '-c', 'exit 1']],
  ])('%j is not known to fail', (argv) => {
    expect(failureOfCommand(argv)).toBeUndefined();
  });
});
