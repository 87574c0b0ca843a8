import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
/** Loads the program and prints, at its end, which files that took. */
const LISTING = `
  import { registerHooks } from 'node:module';
  const loaded = new Set();
  registerHooks({ load(url, context, next) { loaded.add(url); return next(url, context); } });
  process.on('exit', () => console.log(JSON.stringify([...loaded])));
`;

/** The files of `rollkeeper ARGS`. */
function loadedBy(...args: string[]): string[] {
  const hooks = `data:text/javascript,${encodeURIComponent(LISTING)}`;
  const { stderr, stdout } = spawnSync(process.execPath, ['--import', hooks, MAIN, ...args], {
    encoding: 'utf8',
  });
  // It got as far as to look for the API, with all its code in memory.
  expect(stderr).toContain('ENOENT');
  return (JSON.parse(stdout) as string[]).filter((url) => url.startsWith('file:'));
}

describe('the built program', () => {
  it('runs a replica out of few files, and loads no page of the console before somebody looks at one', () => {
    const loaded = loadedBy('controller', '--redis-url', 'redis://127.0.0.1:1', '--kubeconfig', '/none');
    expect(loaded.filter((url) => /bull-board|lit-html|openid-client|pino-pretty/.test(url))).toEqual([]);
    expect(loaded.filter((url) => /\/(@nestjs|bullmq|rxjs|undici|zod)\//.test(url))).toEqual([]);
    expect(loaded.length).toBeLessThan(150);
  });

  it('starts its children from the bundle as well, not from the modules that it is made of', () => {
    const bundle = join(MAIN, '..', 'bundle');
    const texts = readdirSync(bundle)
      .filter((name) => name.endsWith('.js'))
      .map((name) => readFileSync(join(bundle, name), 'utf8'));
    expect(texts.filter((text) => text.includes('rollkeeper/main.js'))).toEqual([]);
    expect(texts.some((text) => text.includes('runProgram('))).toBe(true);
  });
});
