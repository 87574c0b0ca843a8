import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const module = fileURLToPath(new URL('./pino-logger.ts', import.meta.url));

/** What a process prints on stderr that logs an error with all that clients hang on theirs. */
function printed(): Record<string, unknown> {
  const script = `
    import { createPinoLogger } from ${JSON.stringify(module)};
    const cause = Object.assign(new Error('WRONGPASS'), { code: 'E', command: { name: 'auth', args: ['hunter2'] } });
    createPinoLogger().warn('lost', { error: new Error('outer', { cause }), other: 1 });`;
  const { stderr } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    encoding: 'utf8',
  });
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
}

describe('the log of a process', () => {
  it('shows an error with its causes, and nothing of what hangs on them', () => {
    const line = printed();
    expect(line).toMatchObject({
      level: 'warn',
      message: 'lost',
      other: 1,
      error: { type: 'Error', message: 'outer', cause: { message: 'WRONGPASS', code: 'E' } },
    });
    expect(JSON.stringify(line)).not.toContain('"command"');
    expect(JSON.stringify((line['error'] as { cause: object }).cause)).not.toContain('args');
  });
});
