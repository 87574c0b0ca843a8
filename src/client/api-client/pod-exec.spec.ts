import { describe, expect, it } from 'vitest';
import { execProtocols, exitCodeOf } from './pod-exec.js';

describe('the end of a command', () => {
  it('is exit code 0 if the command went well', () => {
    expect(exitCodeOf({ metadata: {}, status: 'Success' })).toBe(0);
  });

  it('is the exit code of a command that failed, and no error', () => {
    const causes = [{ reason: 'ExitCode', message: '3' }];
    expect(exitCodeOf({ status: 'Failure', reason: 'NonZeroExitCode', details: { causes } })).toBe(3);
  });

  it.each([
    { status: 'Failure', reason: 'InternalError', message: 'executable file not found in $PATH', code: 500 },
    { status: 'Failure', reason: 'NonZeroExitCode', message: 'executable file not found in $PATH' },
  ])('is the error that the server reports if there is no exit code', (end) => {
    expect(() => exitCodeOf(end)).toThrow('executable file not found in $PATH');
  });

  it.each([null, 'done', {}])('is an error if nobody understands it: %j', (end) => {
    expect(() => exitCodeOf(end)).toThrow();
  });
});

it('input takes the protocol that can say where it ends', () => {
  expect(execProtocols({ stdin: 'text' })).toEqual(['v5.channel.k8s.io']);
  expect(execProtocols({})).toContain('v4.channel.k8s.io');
});
