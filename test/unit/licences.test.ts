import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-licences-'));

function check(...args: string[]): { status: number | null; stdout: string } {
  const options = { cwd: ROOT, encoding: 'utf8' } as const;
  return spawnSync(process.execPath, ['scripts/licences.mjs', ...args], options);
}

describe('the licences of what is shipped', () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are all allowed', () => {
    const { status, stdout } = check();
    expect(stdout).toMatch(/^MIT: .*\bbullmq@/m);
    expect(stdout).toMatch(/^\d{3} packages, 0 under a licence that is not allowed$/m);
    expect(status).toBe(0);
  });

  it.each([
    { licence: 'GPL-3.0-only', says: 'GPL-3.0-only (NOT ALLOWED): some@1.0.0' },
    { licence: undefined, says: 'none named (NOT ALLOWED): some@1.0.0' },
  ])('are refused when one is $licence, unless only developers have it', ({ licence, says }) => {
    const lockfile = join(folder, 'package-lock.json');
    const packages = {
      '': {},
      'node_modules/some': { version: '1.0.0', license: licence },
      'node_modules/tool': { version: '2.0.0', license: 'GPL-2.0', dev: true },
    };
    writeFileSync(lockfile, JSON.stringify({ packages }));
    const { status, stdout } = check(lockfile);
    expect(stdout).toContain(says);
    expect(stdout).not.toContain('tool@');
    expect(status).toBe(1);
  });
});
