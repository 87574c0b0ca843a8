import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const MODULE = join(import.meta.dirname, 'fast-strings.ts');

/** Runs `script` in a separate process: the effect of one class on all strings is permanent. */
function run(script: string): unknown {
  const isFast = 'const isFast = () => %HasFastProperties(String.prototype);';
  const args = ['--allow-natives-syntax', '--no-warnings', '--input-type=module'];
  const output = execFileSync(process.execPath, [...args, '--eval', `${isFast}\n${script}`], {
    cwd: process.cwd(),
    encoding: 'utf8',
  });
  return JSON.parse(output);
}

describe('keepStringsFast', () => {
  it('is needed: what ioredis brings makes the methods of all strings slow', () => {
    expect(run(`await import('ioredis'); console.log(isFast())`)).toBe(false);
  });

  it('keeps them fast, called before or after', () => {
    const load = `const { keepStringsFast } = await import(${JSON.stringify(MODULE)});`;
    expect(run(`${load} keepStringsFast(); await import('ioredis'); console.log(isFast())`)).toBe(true);
    expect(run(`${load} await import('ioredis'); keepStringsFast(); console.log(isFast())`)).toBe(true);
  });
});
