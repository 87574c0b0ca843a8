import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const module = fileURLToPath(new URL('./pino-logger.ts', import.meta.url));

const levels = fileURLToPath(new URL('./log-level.ts', import.meta.url));

/** The stderr output of a process that runs `script`. */
function printed(script: string): Record<string, unknown>[] {
  const imports = `
    import { createPinoLogger } from ${JSON.stringify(module)};
    import { setLogLevel } from ${JSON.stringify(levels)};`;
  const args = ['-C', 'rollkeeper:source', '--import', 'tsx', '--input-type=module', '-e', imports + script];
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const lines = stderr.trim().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the log of a process', () => {
  it('shows an error with its causes, and nothing of what hangs on them', () => {
    const [line] = printed(`
      const cause = Object.assign(new Error('WRONGPASS'), { code: 'E', command: { name: 'auth', args: ['hunter2'] } });
      createPinoLogger().warn('lost', { error: new Error('outer', { cause }), other: 1 });`);
    expect(line).toMatchObject({
      level: 'warn',
      message: 'lost',
      other: 1,
      error: { type: 'Error', message: 'outer', cause: { message: 'WRONGPASS', code: 'E' } },
    });
    expect(JSON.stringify(line)).not.toContain('"command"');
    expect(JSON.stringify((line?.['error'] as { cause: object }).cause)).not.toContain('args');
  });

  it('changes its level while it runs, for loggers made before as well', () => {
    const lines = printed(`
      const logger = createPinoLogger({ level: 'warn' }).child({ controller: 'deployment' });
      logger.info('not yet');
      setLogLevel('debug');
      logger.debug('now');
      setLogLevel('error');
      logger.warn('no longer');`);
    expect(lines).toEqual([
      expect.objectContaining({ level: 'debug', message: 'now', controller: 'deployment' }),
    ]);
  });

  it('tells no secret: not in messages, fields, errors or what every line carries', () => {
    const lines = printed(`
      const url = 'redis://user:hunter2@redis:6379';
      const logger = createPinoLogger({ base: { url } }).child({ from: url, password: 'hunter2' });
      logger.info('connecting to ' + url, { url, headers: { authorization: 'Bearer hunter2hunter2' } });
      logger.warn('failed', { error: new Error('cannot reach ' + url, { cause: new Error(url) }) });`);
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });
});
