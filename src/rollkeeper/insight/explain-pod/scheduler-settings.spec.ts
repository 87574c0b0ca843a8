import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../machinery/logging/index.js';
import { readSchedulerSettings } from './scheduler-settings.js';

describe('a module of scheduler plug-ins', () => {
  let folder: string;
  const moduleOf = (name: string, mode: number): string => {
    const file = join(folder, name);
    writeFileSync(file, "export default { name: 'Mine', weight: 1, create: () => ({}) };\n");
    chmodSync(file, mode);
    return file;
  };
  const load = (plugins: string) => readSchedulerSettings({ plugins }, silentLogger);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rollkeeper-scheduler-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is loaded from a file, also by a link to it and under a name with odd characters', async () => {
    const file = moduleOf('odd #?%2e\n.mjs', 0o644);
    const link = join(folder, 'link.mjs');
    symlinkSync(file, link);
    for (const each of [file, link])
      expect((await load(each)).plugins.map(({ name }) => name)).toEqual(['Mine']);
  });

  it('is refused where every user of the machine may change it, also behind a link', async () => {
    const file = moduleOf('open.mjs', 0o646);
    const link = join(folder, 'link.mjs');
    symlinkSync(file, link);
    for (const each of [file, link])
      await expect(load(each)).rejects.toThrow(/plugins.*every user of this machine may change/);
  });

  it('is named if it is missing, or none', async () => {
    await expect(load(join(folder, 'none.mjs'))).rejects.toThrow(/plugins.*none\.mjs/);
    writeFileSync(join(folder, 'other.mjs'), 'export default 7;\n');
    await expect(load(join(folder, 'other.mjs'))).rejects.toThrow('neither what defineSchedulerPlugin');
  });
});
