import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LuaScript } from './lua-script.js';

describe('a Lua script', () => {
  let folder: string;
  const script = (name: string, text: string): LuaScript => {
    writeFileSync(join(folder, name), text);
    return new LuaScript(pathToFileURL(join(folder, name)));
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rollkeeper-lua-'));
    mkdirSync(join(folder, 'includes'));
    writeFileSync(join(folder, 'includes', 'one.lua'), 'local function one() return 1 end\n');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has what it includes in the place of the line', () => {
    const { source } = script(
      'get-1.lua',
      'local key = KEYS[1]\n--- @include "includes/one"\nreturn one()\n',
    );
    expect(source).toBe('local key = KEYS[1]\nlocal function one() return 1 end\nreturn one()\n');
  });

  it('cannot be read without what it includes', () => {
    expect(() => script('lost-1.lua', '--- @include "includes/none"\n')).toThrow('none.lua');
  });

  it('takes as many keys as its name says', () => {
    expect(() => script('get-1.lua', 'return 1').call([])).toThrow('expected 1 keys, got 0');
    expect(script('all-n.lua', 'return 1').call(['a', 'b']).keys).toEqual(['a', 'b']);
    expect(() => script('nothing.lua', '')).toThrow("a script's name ends in");
  });
});
